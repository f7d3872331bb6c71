"""What Python programs record by themselves: their log, and calls of functions."""

from __future__ import annotations

from pathlib import Path

from .options import RecordingOptions

__all__ = ["STARTUP", "python_word"]

STARTUP = Path(__file__).parents[1] / "instrument" / "startup"
"""The directory that Python looks into first, with a module that it always imports."""

LOG_EVENT = "lttng_python:event"


def python_word(options: RecordingOptions) -> str:
    """Return what each Python program in a recording is asked for.

    Args:
        options: What is recorded.

    Returns:
        Words with commas between them; empty when nothing is asked for.
    """
    words = ["logging"] if _has_log(options.events) else []
    if options.python_functions is not None:
        words.append("functions")
    if options.python_functions == "all":
        words.append("builtins")
    return ",".join(words)


def _has_log(patterns: tuple[str, ...]) -> bool:
    if not patterns:
        return True
    # Takes longer to import than most recordings need to start.
    from fnmatch import fnmatchcase  # noqa: PLC0415 - see above

    return any(fnmatchcase(LOG_EVENT, pattern) for pattern in patterns)
