"""The exit status of a recording that has ended."""

from __future__ import annotations

from .._signals import signals
from .._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..record.recorder import Recording

__all__ = ["recorded_status"]

_ENDED = 128 + signals.SIGTERM


def recorded_status(recording: Recording) -> int:
    """Return the status of the program, or 0 where its end was asked for.

    Args:
        recording: The recording; of the machine alone, any end is what was wanted.
    """
    ended = recording.options.duration
    is_ended_here = ended and recording.seconds >= ended and recording.status == _ENDED
    return 0 if is_ended_here or not recording.command else recording.status
