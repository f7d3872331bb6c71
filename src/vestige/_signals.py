"""What modules need of :mod:`signal`, without importing it.

That makes enumerations of all signals, which takes longer than to start a program. Here
they are the numbers that they are. Type checkers see the module itself.
"""

from __future__ import annotations

from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    import signal as signals
else:
    import _signal as signals

__all__ = ["signals"]
