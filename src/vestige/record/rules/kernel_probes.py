"""Probes of the kernel: where they are, from words of a command line; and its logger.

``[NAME=]PLACE``. A place is in a program, ``elf:PATH:FUNCTION`` or
``sdt:PATH:PROVIDER:NAME``, or in the kernel: ``SYMBOL``, ``SYMBOL+OFFSET``, an address,
or ``function:SYMBOL`` for entry and exit of a function.
"""

from __future__ import annotations

import os
import re
import stat

from ..._typing import TYPE_CHECKING, NamedTuple
from ...errors import SelectionError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = [
    "KernelProbe",
    "check_kernel_logger",
    "check_kernel_probe",
    "kernel_place",
    "parse_kernel_probe",
    "program_place",
]

_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*")
"""As in C."""
_SYMBOL = re.compile(r"(?:\w+:)?[A-Za-z_.][\w.$]*")
"""A symbol of the kernel, after the module that has it."""
_WORDS = {"elf": 3, "sdt": 4}
"""How many words places of these kinds have."""
_NAME = re.compile(r"[^=/:\\\"]+")
_FUNCTION = "function:"
_EXPECTED = (
    "expected [NAME=]PLACE, where PLACE is elf:PATH:FUNCTION, sdt:PATH:PROVIDER:NAME, "
    "SYMBOL[+OFFSET] of the kernel, or function:SYMBOL"
)


class KernelProbe(NamedTuple):
    """An event of the kernel that is made for a place."""

    text: str
    """As it was written."""

    kind: str
    """``userspace-probe``, ``probe`` or ``function``."""

    name: str
    """Of its event."""

    location: dict[str, Any]
    """Where it is, as LTTng's daemon takes it."""


def parse_kernel_probe(text: str) -> KernelProbe:
    """Read a probe.

    Args:
        text: What was written.

    Returns:
        The probe; whether its place is there was not looked at.

    Raises:
        SelectionError: It is none.
    """
    name, is_named, place = text.partition("=")
    if not is_named or not _NAME.fullmatch(name):
        name, place = "", text
    if place.startswith(("elf:", "sdt:")) or "/" in place:
        found, kind, word = program_place(place), "userspace-probe", ""
        if found is not None:
            word = found.get("function") or f"{found['provider']}:{found['probe']}"
    else:
        is_function = place.startswith(_FUNCTION)
        kind, word = ("function" if is_function else "probe"), place
        word = word.removeprefix(_FUNCTION)
        found = kernel_place(word)
    if found is None:
        raise SelectionError(f"--kernel-probe: '{text}': {_EXPECTED}")
    return KernelProbe(text, kind, name or word, found)


def check_kernel_probe(probe: KernelProbe) -> None:
    """Look whether the place of a probe is there, if it is one in a program.

    Args:
        probe: The probe.

    Raises:
        SelectionError: It is not.
    """
    if probe.kind != "userspace-probe":
        # What the kernel has, it says when it is asked for it.
        return
    from ...errors import RecordError  # noqa: PLC0415 - few recordings have probes
    from ...inspect.probe_places import ProbedFile  # noqa: PLC0415 - as above

    try:
        with ProbedFile(probe.location["path"]) as file:
            file.places(probe.location)
    except RecordError as error:
        raise SelectionError(f"--kernel-probe: '{probe.text}': {error}") from error


def check_kernel_logger(path: str) -> None:
    """Look whether a pipe for text can be made.

    Args:
        path: Where.

    Raises:
        SelectionError: It cannot.
    """
    directory = os.path.dirname(path) or "."
    if not os.path.isdir(directory):
        why = f"there is no directory {directory}"
    elif os.path.lexists(path) and not stat.S_ISFIFO(os.lstat(path).st_mode):
        why = "there is another file"
    else:
        return
    raise SelectionError(f"--kernel-logger: {path}: {why}")


def kernel_place(text: str) -> dict[str, Any] | None:
    """Return a place in the kernel, as the daemon takes it.

    Args:
        text: ``SYMBOL``, ``SYMBOL+OFFSET`` or an address.

    Returns:
        The place; ``None``: it is none.
    """
    if _NUMBER.fullmatch(text):
        return {"type": "address", "address": _number(text)}
    name, plus, offset = text.partition("+")
    if not _SYMBOL.fullmatch(name) or (plus and not _NUMBER.fullmatch(offset)):
        return None
    return {"type": "symbol", "name": name, "offset": _number(offset or "0")}


def _real_path(name: str) -> str:
    """Return the path of a program without links.

    Args:
        name: A path, or a name that is looked for in ``$PATH``; what is nowhere stays
            as it was written.
    """
    if "/" not in name:
        import shutil  # noqa: PLC0415 - few recordings have probes

        name = shutil.which(name, os.F_OK) or name
    return os.path.realpath(name) if os.path.exists(name) else name


def program_place(
    text: str, path_of: Callable[[str], str] = _real_path
) -> dict[str, Any] | None:
    """Return a place in a program, as the daemon takes it.

    Args:
        text: ``PATH:FUNCTION``, ``elf:PATH:FUNCTION`` or ``sdt:PATH:PROVIDER:PROBE``,
            where a colon of a path has a backslash.
        path_of: Gives the path of the program that is written there.

    Returns:
        The place; ``None``: it is none.
    """
    parts = [re.sub(r"\\(.)", r"\1", one) for one in re.split(r"(?<!\\):", text)]
    match parts:
        case ["elf" | "sdt", *rest] if len(rest) + 1 != _WORDS[parts[0]]:
            return None
        case [path, function] | ["elf", path, function] if path and function:
            found = {"type": "function", "path": path_of(path), "function": function}
        case ["sdt", path, provider, probe] if path and provider and probe:
            found = {"type": "tracepoint", "path": path_of(path), "provider": provider}
            found["probe"] = probe
        case _:
            return None
    return found


def _number(text: str) -> int:
    is_octal = len(text) > 1 and text[0] == "0" and text.isdigit()
    return int(text, 8 if is_octal else 0)
