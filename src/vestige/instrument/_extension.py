"""The extension, where it can be loaded."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # To import it takes longer than all else in recorded programs.
    from typing import Any

__all__ = ["inactive_because", "is_recorded", "native", "why_without_extension"]

INTERFACE = 4
"""Which functions and arguments the extension has, as in ``tracer/python/module.c``.
Change both numbers when one of them is changed."""
native: Any = None
"""The extension; ``None`` where it is not built, or is for another interpreter."""
_why_not = ""

if sys.implementation.name != "cpython" or "t" in getattr(sys, "abiflags", ""):
    _why_not = "the extension of vestige.instrument is for CPython with its lock"
else:
    try:
        from . import _native as native  # type: ignore[no-redef]
    except ImportError as error:
        if error.path is not None and error.path.endswith(".so"):
            _why_not = f"the extension of vestige.instrument cannot be loaded: {error}"
        else:
            _why_not = (
                "the extension of vestige.instrument was not built: install Python's "
                "headers (Debian package python3-dev), then build Vestige again with "
                "'make demo' or 'pip install .' in the source tree"
            )
    else:
        if getattr(native, "interface", None) != INTERFACE:
            native = None
            _why_not = (
                "the extension of vestige.instrument is from other sources: build it "
                "again with 'make' or 'pip install .' in the source tree"
            )


def why_without_extension() -> str | None:
    """Say why this installation records no Python programs.

    Returns:
        The reason, for people; ``None`` when the extension is there.
    """
    return _why_not or None


def inactive_because() -> str | None:
    """Say why nothing is recorded.

    Returns:
        The reason, for people; ``None`` in a program that is recorded.
    """
    if native is None:
        return why_without_extension()
    if not native.is_recorded():
        return "the program does not run under 'vestige record'"
    return None


def is_recorded() -> bool:
    """Tell whether the program runs under a recorder.

    Returns:
        Whether it does: also where a session daemon is there that knows the program,
        and not where it waits for one. Single events may still be left out.
    """
    return inactive_because() is None
