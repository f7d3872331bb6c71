"""What of the kernel can be recorded, by LTTng's names, and whether it can at all."""

from __future__ import annotations

from ...._typing import TYPE_CHECKING
from .channel_filters import check_filter
from .expressions import FilterError
from .formats import read_format
from .lttng_names import lttng_name
from .probes import PREFIX, Probes
from .selection import choose
from .state_dump import CLASSES
from .tracefs import NoKernelTracerError, Tracefs

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .rules import KernelRule

__all__ = [
    "LOGGER",
    "call_names",
    "check_probe",
    "check_rule_filter",
    "tracepoint_names",
    "why_not",
]

LOGGER = "lttng_logger"
"""The event of what is written to the marker, which is in no list of the kernel."""
_CALLS = "syscalls"
"""The kernel's system of system calls."""
_ENTRY = "sys_enter_"
_AT_ONCE = 100
"""Events that are looked at together."""


def why_not() -> str | None:
    """Say why the kernel cannot be recorded, ``None`` if it can."""
    try:
        Tracefs().close()
    except NoKernelTracerError as error:
        return str(error)
    return None


def tracepoint_names() -> list[str]:
    """Return the names of all tracepoints, in order.

    Raises:
        OSError: There is no tracefs, or no right to use it.
    """
    names = {
        lttng_name(system, name)
        for system, name in _available()
        if system != _CALLS and not system.startswith(PREFIX)
    }
    return sorted({*names, LOGGER, *CLASSES})


def call_names() -> list[str]:
    """Return the names of all system calls, in order.

    Raises:
        OSError: As of :func:`tracepoint_names`.
    """
    return sorted(
        name.removeprefix(_ENTRY)
        for system, name in _available()
        if system == _CALLS and name.startswith(_ENTRY)
    )


def check_rule_filter(rule: KernelRule) -> None:
    """Refuse a filter that can be true of no event that its rule takes.

    Args:
        rule: The rule; it takes no events that are made for it.

    Raises:
        FilterError: There is none; the text says why.
        OSError: As of :func:`tracepoint_names`.
    """
    if rule.filter is None:
        return
    check_filter(rule.filter, [])
    try:
        tracefs = Tracefs()
    except NoKernelTracerError as error:
        raise OSError(str(error)) from error
    try:
        matches, _ = choose([rule], _available())
        refusal = None
        # Most filters are of few fields, which one of the first events has.
        for first in range(0, len(matches), _AT_ONCE):
            formats = []
            for system, name, _ in matches[first : first + _AT_ONCE]:
                text = tracefs.read(f"events/{system}/{name}/format")
                formats.append(read_format(system, name, text))
            try:
                check_filter(rule.filter, formats)
            except FilterError as error:
                refusal = refusal or error
            else:
                return
        if refusal is not None:
            raise refusal
    finally:
        tracefs.close()


def check_probe(kind: str, location: Mapping[str, Any], name: str) -> None:
    """Refuse a probe that this kernel cannot have, by making it for a moment.

    Args:
        kind: One of :data:`~.rules.PROBES`.
        location: Where it is.
        name: What its event is called.

    Raises:
        ValueError: It cannot be; this says why.
        OSError: As above.
    """
    try:
        tracefs = Tracefs()
    except NoKernelTracerError as error:
        raise OSError(str(error)) from error
    probes = Probes(tracefs)
    try:
        probes.add(kind, location, name)
    except NoKernelTracerError as error:
        raise ValueError(str(error)) from error
    finally:
        probes.close()
        tracefs.close()


def _available() -> list[tuple[str, str]]:
    """Return the systems and names of all events that can be switched on."""
    try:
        tracefs = Tracefs()
    except NoKernelTracerError as error:
        raise OSError(str(error)) from error
    try:
        lines = tracefs.read("available_events").splitlines()
    finally:
        tracefs.close()
    found = (line.partition(":") for line in lines)
    return [(system, name) for system, _, name in found if name]
