"""The metadata of a trace of the kernel, as its channels and its clock are now."""

from __future__ import annotations

from ...._typing import TYPE_CHECKING
from .contexts import context_fields
from .metadata import FEW, StreamText, classes_text, metadata_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .channel import Channel
    from .metadata import DeclaredClass
    from .wanted import Wanted

__all__ = ["TraceText"]


class TraceText:
    """Knows which events of each channel are declared.

    Args:
        wanted: What is recorded.
        channels: All channels, which are made.
    """

    def __init__(self, wanted: Wanted, channels: Sequence[Channel]) -> None:
        self._wanted, self._channels = wanted, channels
        self._declared: list[list[DeclaredClass]] = [one.take_new() for one in channels]
        self.compact = [not wanted.grows and one.classes <= FEW for one in channels]
        """Of each channel, whether headers of its event records are the short ones."""

    def whole(self) -> str:
        """Return all of it."""
        wanted = self._wanted
        streams = [
            StreamText(
                number,
                self.compact[number],
                declared,
                context_fields(self._channels[number].contexts),
            )
            for number, declared in enumerate(self._declared)
        ]
        return metadata_text(
            wanted.uuid,
            wanted.name,
            wanted.clock,
            streams,
            is_followed=wanted.is_followed,
        )

    def declare_new(self, number: int) -> str:
        """Declare the events that a channel has got; return what is added for them.

        Args:
            number: The channel's place.
        """
        new = self._channels[number].take_new()
        self._declared[number] += new
        return classes_text(number, new)

    def set_rate(self, frequency: int, offset: int) -> None:
        """Know the rate of the clock better.

        Args:
            frequency: Values in a second.
            offset: What is added to each value for that since the Unix epoch.
        """
        clock = self._wanted.clock._replace(frequency=frequency, offset=offset)
        self._wanted = self._wanted._replace(clock=clock)
