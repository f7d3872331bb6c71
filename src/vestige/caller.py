"""Where warnings point: at the code of the user, not at Vestige's own."""

from __future__ import annotations

import os
import sys

__all__ = ["caller_level"]


def caller_level() -> int:
    """Return the ``stacklevel`` at which a warning points at the code of the user."""
    package = os.path.dirname(__file__) + os.sep  # noqa: PTH120 - hot enough
    frame = sys._getframe(1)  # noqa: SLF001 - the one way before Python 3.12
    level = 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        frame = frame.f_back
        level += 1
    return level
