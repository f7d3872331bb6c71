"""Probes: functions whose calls are recorded with arguments and results.

``[OBJECT:]FUNCTION(VALUE, ...)``. A value is the name of a parameter, which debug
information describes; ``PLACE:TYPE``, which needs none; or ``$return``. A type may
follow any of them.
"""

from __future__ import annotations

import re

from ..._typing import TYPE_CHECKING, NamedTuple
from ...errors import SelectionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "PROVIDER",
    "RETURN",
    "TYPES",
    "Probe",
    "ProbeType",
    "ProbeValue",
    "event_names",
    "parse_probe",
    "parse_probes",
]

PROVIDER = "vestige_probe"
"""Of the events."""
RETURN = "return"
"""The field of a result."""
MOST_PROBES = 256
MOST_VALUES = 16
LONGEST_NAME = 63
"""Of a field."""
LONGEST_EVENT = 200
GENERAL = (
    "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11",
)  # fmt: skip
"""General registers, by their numbers in DWARF; some cannot be recorded."""

_PROBE = re.compile(r"(?:([^:()]+):(?!:))?([^()\s]+)(?:\((.*)\))?", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_STACK = re.compile(r"stack\+(\d{1,6})")
_VECTOR = re.compile(r"xmm([0-7])")
_UNFIT = re.compile(r"[^A-Za-z0-9_]+")


class ProbeType(NamedTuple):
    """How a value is recorded."""

    kind: str
    """``int``, ``uint``, ``ptr``, ``float`` or ``str``."""

    size: int
    """Its bytes."""


TYPES = {
    "int": ProbeType("int", 4),
    "uint": ProbeType("uint", 4),
    "long": ProbeType("int", 8),
    "ulong": ProbeType("uint", 8),
    "bool": ProbeType("uint", 1),
    "char": ProbeType("int", 1),
    "ptr": ProbeType("ptr", 8),
    "str": ProbeType("str", 8),
    "float": ProbeType("float", 4),
    "double": ProbeType("float", 8),
    **{f"i{8 * size}": ProbeType("int", size) for size in (1, 2, 4, 8)},
    **{f"u{8 * size}": ProbeType("uint", size) for size in (1, 2, 4, 8)},
}
"""By the names that people write."""


class ProbeValue(NamedTuple):
    """One value of a probe."""

    name: str
    """Of the field."""

    place: str = ""
    """A register, or ``stack+N``; empty: debug information tells."""

    type: ProbeType | None = None
    """``None``: debug information tells."""

    is_result: bool = False


class Probe(NamedTuple):
    """A function whose calls are recorded with values."""

    text: str
    """As it was written."""

    event: str
    """The name of its event, without the provider."""

    object: str
    """A pattern of the file that has it; empty: the first one that does."""

    function: str

    values: tuple[ProbeValue, ...] | None
    """At its entry; ``None``: all parameters that debug information describes."""

    result: ProbeValue | None
    """At its exit."""


def parse_probes(texts: Iterable[str]) -> tuple[Probe, ...]:
    """Read all probes of a recording.

    Args:
        texts: What was written.

    Returns:
        The probes.

    Raises:
        SelectionError: One is no probe, or two have the same name.
    """
    probes = tuple(parse_probe(text) for text in texts)
    if len(probes) > MOST_PROBES:
        raise SelectionError(f"{len(probes):,} probes: expected up to {MOST_PROBES}")
    known: dict[str, str] = {}
    for probe in probes:
        for name in event_names(probe):
            other = known.setdefault(name, probe.text)
            if other is not probe.text:
                raise SelectionError(
                    f"--probe: '{other}' and '{probe.text}' both make {PROVIDER}:{name}"
                )
    return probes


def event_names(probe: Probe) -> Sequence[str]:
    """Return the names of the events of a probe, without the provider.

    Args:
        probe: The probe.

    Returns:
        One, and one for the result.
    """
    names = [probe.event]
    if probe.result is not None:
        names.append(f"{probe.event}_return")
    return names


def parse_probe(text: str) -> Probe:
    """Read a probe.

    Args:
        text: What was written.

    Returns:
        The probe.

    Raises:
        SelectionError: It is none.
    """
    found = _PROBE.fullmatch(text.strip())
    if found is None:
        raise SelectionError(
            f"--probe: '{text}': expected [OBJECT:]FUNCTION(VALUE, ...), where VALUE "
            "is the name of a parameter, PLACE:TYPE or $return"
        )
    event = _UNFIT.sub("_", found[2]).strip("_")
    if not event or len(event) > LONGEST_EVENT:
        raise SelectionError(f"--probe: '{text}': expected the name of a function")
    values: list[ProbeValue] = []
    result = None
    words = found[3].split(",") if found[3] and found[3].strip() else []
    for word in words:
        value = _parse_value(text, word.strip())
        if not value.is_result:
            values.append(value)
        elif result is None:
            result = value
        else:
            raise SelectionError(f"--probe: '{text}': expected $return once")
    names = [value.name for value in values]
    for name in names:
        if names.count(name) > 1:
            raise SelectionError(f"--probe: '{text}': expected '{name}' once")
    if len(values) > MOST_VALUES:
        raise SelectionError(f"--probe: '{text}': expected up to {MOST_VALUES} values")
    chosen = None if found[3] is None else tuple(values)
    return Probe(text, event, found[1] or "", found[2], chosen, result)


def _parse_value(text: str, word: str) -> ProbeValue:
    what, colon, name = word.partition(":")
    what, name = what.strip(), name.strip()
    kind = TYPES.get(name)
    if colon and kind is None:
        raise SelectionError(
            f"--probe: '{text}': no type '{name}': expected one of {', '.join(TYPES)}"
        )
    if what == "$return":
        return ProbeValue(RETURN, "", kind, is_result=True)
    is_place = what in GENERAL or _STACK.fullmatch(what) or _VECTOR.fullmatch(what)
    if is_place and kind is not None:
        _check_place(text, what, kind)
        return ProbeValue(_UNFIT.sub("_", what), what, kind)
    if not _NAME.fullmatch(what) or len(what) > LONGEST_NAME:
        raise SelectionError(
            f"--probe: '{text}': '{word}': expected the name of a parameter, "
            "PLACE:TYPE (such as rdi:ptr, xmm0:double or stack+8:int) or $return"
        )
    return ProbeValue(what, "", kind)


def _check_place(text: str, place: str, kind: ProbeType) -> None:
    if place.startswith("stack+") and int(place[6:]) % 8:
        raise SelectionError(f"--probe: '{text}': expected a multiple of 8 in {place}")
    if place in {"rbx", "rsp"}:
        raise SelectionError(f"--probe: '{text}': {place} cannot be recorded")
    if _VECTOR.fullmatch(place) and kind.kind != "float":
        raise SelectionError(f"--probe: '{text}': expected float or double in {place}")
    if place in GENERAL and kind.kind == "float":
        raise SelectionError(f"--probe: '{text}': expected no float in {place}")
