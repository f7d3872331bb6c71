"""Whether a program is written in Python, as far as its file or its libraries show."""

from __future__ import annotations

import os

from .._typing import TYPE_CHECKING
from .programs import find_program, interpreter_of_script

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

__all__ = ["has_python", "is_pypy", "is_python_program", "match_cpython"]

_INTERPRETER = r"python(3(\.\d+)?)?t?"
_CPYTHON = r"(?:lib)?python(3)(?:\.(\d+))?(t)?(?![a-z])"
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


def has_python(objects: Sequence[str]) -> bool:
    """Tell whether a process had a Python interpreter.

    Args:
        objects: The paths of what it loaded.
    """
    names = [os.path.basename(path) for path in objects]
    return any(is_pypy(name) or match_cpython(name) for name in names)


def is_pypy(name: str) -> bool:
    """Tell whether a file is of PyPy, by its name.

    Args:
        name: The name, without directories.
    """
    return name.startswith(("pypy", "libpypy"))


def match_cpython(name: str) -> re.Match[str] | None:
    """Take the name of an interpreter, or of its library, apart.

    Args:
        name: The name, without directories.

    Returns:
        Its parts: major and minor version, and a ``t`` if it has no lock; ``None`` when
        it is none of CPython.
    """
    if not name.startswith(("python", "libpython")):
        return None
    import re  # noqa: PLC0415 - other programs need it not

    return re.match(_CPYTHON, name)
