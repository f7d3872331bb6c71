"""What the process that reads has to know of a trace: values, and open files.

It is forked by the one with the rights (:mod:`.collector_process`) and has them from
its memory.
"""

from __future__ import annotations

from ...._typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .channel import Plan
    from .channel_filters import Filters
    from .kernel_names import NameFiles
    from .process_maps import ProcessMaps

__all__ = ["ChannelToRead", "TraceToRead"]


class ChannelToRead(NamedTuple):
    """A channel, as this process needs it."""

    name: str
    stream: int
    is_compact: bool
    plans: list[Plan]
    files: list[tuple[int, int, int]]
    """CPUs, with descriptors of their pages and statistics."""

    kept: int | None
    """Bytes of each CPU that stay in memory until they are asked for."""

    period: int
    limits: tuple[int, int]
    """Bytes of a data file, and how many stay; 0: there is no limit."""

    filters: Filters
    buffer: int
    """Bytes of the buffer of a CPU."""

    page: int
    """Bytes of a page of it."""

    others: dict[int, int | None] | None
    """See :meth:`.channel.Channel.others`."""


class TraceToRead(NamedTuple):
    """A trace, as this process needs it."""

    directory: str
    older: str
    """As :class:`.trace_files.TraceFiles` has it."""

    uuid: bytes
    page: int
    begin: int
    user: int
    group: int
    live: int
    """Microseconds after which viewers see what was recorded; 0: there are none."""

    channels: list[ChannelToRead]
    host: bytes
    """The name of the machine, as contexts have it."""

    threads: tuple[list[tuple[int, str, list[int]]], list[int]] | None
    """Events that tell of threads, and the descriptors of their pages."""

    names: NameFiles | None
    """What tells names of the kernel's functions, if it may be seen."""

    maps: ProcessMaps | None
    """What processes have mapped, if there are call stacks of programs."""
