"""Whether a program is written in Python, as far as its file shows."""

from __future__ import annotations

import os

from .programs import find_program, interpreter_of_script

__all__ = ["is_python_program"]

_INTERPRETER = r"python(3(\.\d+)?)?t?"
_MOST_INTERPRETERS = 4
"""Of a script whose interpreter is a script, as the kernel has it."""
_LONGEST_FIRST_LINE = 256
"""Bytes of it that the kernel reads."""


def is_python_program(name: str, search_path: str | None) -> bool:
    """Tell whether a program is Python's interpreter, or a script that it runs.

    Args:
        name: Its name or path.
        search_path: The value of ``PATH``.

    Returns:
        Whether it is; not for programs that start Python themselves.
    """
    program = find_program(name, search_path)
    for _ in range(_MOST_INTERPRETERS):
        if program is None:
            return False
        if _is_interpreter(program):
            return True
        program = interpreter_of_script(_start_of(program))
    return False


def _is_interpreter(program: str) -> bool:
    names = {os.path.basename(program)}
    if os.path.islink(program):
        names.add(os.path.basename(os.path.realpath(program)))
    return any(map(_is_name, names))


def _is_name(name: str) -> bool:
    if not name.startswith("python"):
        return False
    import re  # noqa: PLC0415 - other programs need it not

    return re.fullmatch(_INTERPRETER, name) is not None


def _start_of(program: str) -> bytes:
    try:
        with open(program, "rb") as file:
            return file.read(_LONGEST_FIRST_LINE)
    except OSError:
        return b""
