"""What is recorded of the kernel, as the process that records it is told."""

from __future__ import annotations

from ...._typing import TYPE_CHECKING, NamedTuple
from .metadata import ClockFacts
from .rules import KernelRule

if TYPE_CHECKING:
    from typing import Any

__all__ = ["DEFAULT_CHANNEL", "ChannelWanted", "Wanted"]

DEFAULT_CHANNEL = "channel0"


class ChannelWanted(NamedTuple):
    """A channel: an instance of its own."""

    name: str
    rules: list[KernelRule]
    buffer_size: int
    """Bytes that a CPU may record before they are read."""

    is_overwriting: bool = False
    """Whether what is old makes room in a full buffer; else what is new is lost."""

    is_enabled: bool = True
    """Whether anything is recorded now."""

    contexts: list[str] = []  # noqa: RUF012 - nobody adds to it
    """LTTng's names of the fields that each event record has besides."""

    switch_timer: int = 0
    """Microseconds after which a packet is written in any case; 0: never."""

    is_kept: bool = False
    """Whether nothing is written but what is asked for: of snapshots."""

    tracefile_size: int = 0
    """Bytes of a data file, after which there is another one; 0: there is one."""

    tracefile_count: int = 0
    """How many of these stay; 0: all."""

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> ChannelWanted:
        """Return what :meth:`to_json` has described."""
        rules = [KernelRule(**one) for one in values["rules"]]
        return cls(**{**values, "rules": rules})

    def to_json(self) -> dict[str, Any]:
        """Return what JSON can say of it."""
        return {**self._asdict(), "rules": [one._asdict() for one in self.rules]}


class Wanted(NamedTuple):
    """A trace of the kernel."""

    directory: str
    """The directory of the trace, which is to be made."""

    name: str
    """The name of the recording."""

    uuid: str
    clock: ClockFacts
    user: int
    """To whom the files belong."""

    group: int
    channels: list[ChannelWanted]
    older: str = "refused"
    """What becomes of a trace that is there: see :class:`.trace_files.TraceFiles`."""

    live: int = 0
    """Microseconds after which viewers see what was recorded; 0: there are none."""

    grows: bool = False
    """Whether more events may be wanted later."""

    tracked: dict[str, list[int] | None] = {}  # noqa: RUF012 - as above
    """The only processes and users that are recorded, by the kind of their IDs
    (``pid``, ``vpid``, ``uid`` and so on); ``None``, and what is not here: all."""

    logger: str | None = None
    """Where a pipe is made to which any user writes text; ``None``: nowhere."""

    is_followed: bool = False
    """Whether events are recorded of those alone that a thread starts from the moment
    on that it is named, and of all that they start."""

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Wanted:
        """Return what :meth:`to_json` has described."""
        channels = [ChannelWanted.from_json(one) for one in values["channels"]]
        clock = ClockFacts(*values["clock"])
        return cls(**{**values, "channels": channels, "clock": clock})

    def to_json(self) -> dict[str, Any]:
        """Return what JSON can say of it."""
        channels = [one.to_json() for one in self.channels]
        return {**self._asdict(), "channels": channels}
