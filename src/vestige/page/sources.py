"""Lines of source files around functions, where the files are on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["SourceLines"]

AROUND = 6
"""Lines before and after the wanted one."""
_LARGEST = 4 << 20
"""Larger files are not read, bytes."""
_LONGEST = 240
"""What of a line is shown, characters."""
_SUFFIXES = frozenset(
    {
        ".c",
        ".h",
        ".cc",
        ".cp",
        ".cpp",
        ".cxx",
        ".c++",
        ".hh",
        ".hpp",
        ".hxx",
        ".inl",
        ".ipp",
        ".tcc",
        ".m",
        ".mm",
        ".s",
        ".S",
        ".asm",
        ".rs",
        ".go",
        ".d",
        ".ada",
        ".adb",
        ".ads",
        ".f",
        ".for",
        ".f90",
        ".f95",
        ".f03",
        ".java",
        ".kt",
        ".swift",
        ".zig",
        ".nim",
        ".pas",
        ".py",
        ".pyi",
        ".pyx",
        ".pxd",
    }
)
"""A trace names any file it likes: only what is named as source text is shown."""


class SourceLines:
    """Reads lines of source files; each file once."""

    def __init__(self) -> None:
        self._files: dict[str, list[str] | None] = {}

    def around(self, source: str | None) -> dict[str, Any] | None:
        """Return the lines around a place.

        Args:
            source: A path and a line, ``PATH:LINE``, as functions have it.

        Returns:
            ``line``, the number of the ``first`` line and the ``lines``, as the page
            takes it; ``None`` where there is no such file or line.
        """
        path, _, number = (source or "").rpartition(":")
        if not path or not number.isdecimal():
            return None
        lines, line = self._lines(path), int(number)
        if lines is None or not 1 <= line <= len(lines):
            return None
        first = max(1, line - AROUND)
        shown = [one[:_LONGEST] for one in lines[first - 1 : line + AROUND]]
        return {"line": line, "first": first, "lines": shown}

    def _lines(self, path: str) -> list[str] | None:
        if path not in self._files:
            self._files[path] = _read(path)
        return self._files[path]


def _read(path: str) -> list[str] | None:
    try:
        real = Path(path).resolve(strict=True)
        if real.suffix not in _SUFFIXES or not real.is_file():
            return None
        if real.stat().st_size > _LARGEST:
            return None
        text = real.read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError, RuntimeError):
        return None
    return text.expandtabs(4).split("\n")
