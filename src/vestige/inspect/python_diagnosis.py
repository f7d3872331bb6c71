"""Why a Python program was not recorded: its interpreter, or how it was started."""

from __future__ import annotations

import os

from .._suppress import suppress
from .._typing import TYPE_CHECKING
from .programs import find_program
from .python_detection import has_python, is_pypy, match_cpython

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["why_isolated", "why_without_python"]

_FIRST = 11
"""The first minor version of Python 3 that is recorded."""
_ISOLATING = {
    "I": "takes nothing from the environment",
    "E": "takes nothing from the environment",
    "S": "imports no startup module",
}
"""Options without which the startup module would run."""
_WITH_VALUE = "WXcm"
"""Options whose value follows, in the same word or the next one."""
_LAST = "cm"
"""Those after which all is the program's."""
_MOST_SCRIPT_LINE = 256


def why_without_python(command: Sequence[str], objects: Sequence[str]) -> str | None:
    """Say why neither functions nor the log of a Python program can be recorded.

    Args:
        command: What was recorded.
        objects: The paths of what its processes loaded.

    Returns:
        The reason, a sentence; ``None`` when nothing speaks against it.
    """
    reasons = [_why_not_interpreter(os.path.basename(path)) for path in objects]
    # Where several were started, one that can be recorded had its chance.
    if has_python(objects) and None not in [
        reason
        for path, reason in zip(objects, reasons, strict=True)
        if has_python([path])
    ]:
        return next(reason for reason in reasons if reason)
    from ..instrument._extension import (  # noqa: PLC0415 - few recordings need it
        why_without_extension,
    )

    return why_without_extension() or why_isolated(command)


def _why_not_interpreter(name: str) -> str | None:
    if is_pypy(name):
        return "PyPy is not recorded: its functions and its log need CPython"
    found = match_cpython(name)
    if found is None:
        return None
    _, minor, is_free_threaded = found.groups()
    if is_free_threaded:
        return f"Python 3.{minor}t is not recorded: it needs a CPython with its lock"
    if minor and int(minor) < _FIRST:
        return (
            f"Python 3.{minor} is not recorded: functions and the log are from "
            f"Python 3.{_FIRST} on"
        )
    return None


def why_isolated(command: Sequence[str]) -> str | None:
    """Say why an interpreter takes nothing from a recorder, by its options.

    Args:
        command: Python's interpreter or a script, with its arguments.

    Returns:
        The reason, a sentence; ``None`` when it is not isolated.
    """
    for program, arguments in _commands(command):
        name = os.path.basename(program)
        if not match_cpython(name) and name != "python":
            continue
        for option in _options(arguments):
            what = _ISOLATING.get(option)
            if what is not None:
                return (
                    f"'{name} -{option}' {what}: functions and the log are "
                    f"recorded without -{option}"
                )
    return None


def _commands(command: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Return the program and, of a script, what runs it; each with its arguments."""
    words = [os.fspath(word) for word in command]
    program = find_program(words[0], os.environ.get("PATH"))
    if program is None:
        return
    yield program, words[1:]
    start = b""
    with suppress(OSError), open(program, "rb") as file:
        start = file.read(_MOST_SCRIPT_LINE)
    if not start.startswith(b"#!"):
        return
    line = os.fsdecode(start[2:].partition(b"\n")[0]).split()
    if line and os.path.basename(line[0]) == "env":
        line = [word for word in line[1:] if word != "-S"]
    if line:
        yield line[0], line[1:]


def _options(arguments: Sequence[str]) -> Iterator[str]:
    """Return the options of one letter that an interpreter is given."""
    words = iter(arguments)
    for word in words:
        if word == "--" or not word.startswith("-") or word == "-":
            return
        if word.startswith("--"):
            continue
        for index, letter in enumerate(word[1:], 1):
            if letter in _LAST:
                return
            if letter in _WITH_VALUE:
                if index == len(word) - 1:
                    next(words, None)
                break
            yield letter
