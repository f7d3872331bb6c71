"""The process that reads a trace of the kernel, from its start to its end."""

from __future__ import annotations

import os
from contextlib import ExitStack

from ...._typing import TYPE_CHECKING
from .contexts import host
from .kernel_names import NameFiles
from .module_sections import ModuleSections
from .reader_link import ReaderLink
from .to_read import ChannelToRead, TraceToRead

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from .channel import Channel
    from .process_events import ProcessEvents
    from .process_maps import ProcessMaps
    from .wanted import Wanted

__all__ = ["TraceReader"]

_NAMING = {"run", "flush", "cut", "copy", "end"}
"""Orders before which is told where modules are, for names that are given then."""


class TraceReader:
    """Starts it with the files that it needs, and asks it for what is to be done.

    Args:
        page: Bytes of a page of the kernel's buffers, where nobody asked for others.
        now: Gives the present value of the clock.
    """

    def __init__(self, page: int, now: Callable[[], int]) -> None:
        self._page, self._now = page, now
        self._link: ReaderLink | None = None
        self._sections = ModuleSections()
        self.has_maps = False
        """Whether it is told what processes map."""
        self.is_running = False
        """Whether it reads, or has read."""

    def start(
        self,
        wanted: Wanted,
        channels: Sequence[Channel],
        compact: Sequence[bool],
        threads: ProcessEvents | None,
    ) -> None:
        """Start it; it reads nothing yet.

        Args:
            wanted: What is recorded.
            channels: All channels.
            compact: Of each, whether headers of its event records are the short ones.
            threads: What tells of threads, if anybody asks for it.

        Raises:
            OSError: It cannot be started, or a file of the kernel cannot be opened.
        """
        # While files of theirs are open, the instances cannot be removed.
        with ExitStack() as opened:
            known = [
                _channel_to_read(channel, number, opened, is_compact=compact[number])
                for number, channel in enumerate(channels)
            ]
            names = NameFiles.open()
            if names is not None:
                opened.callback(names.close)
            self.has_maps = any("callstack-user" in one.contexts for one in channels)
            trace = TraceToRead(
                wanted.directory,
                wanted.older,
                bytes.fromhex(wanted.uuid.replace("-", "")),
                self._page,
                wanted.clock.begin or self._now(),
                wanted.user,
                wanted.group,
                wanted.live,
                known,
                host(),
                None
                if threads is None
                else (threads.events(), threads.open_files(opened)),
                names,
                self._open_maps(known, opened) if self.has_maps else None,
            )
            self._link = ReaderLink(trace, self._now)

    def _open_maps(
        self, channels: Iterable[ChannelToRead], opened: ExitStack
    ) -> ProcessMaps:
        """Let the kernel tell what is mapped, since stacks of programs are wanted."""
        # Few traces need it.
        from .map_events import open_all  # noqa: PLC0415 - see above
        from .process_maps import ProcessMaps  # noqa: PLC0415 - see above

        files = open_all({cpu for channel in channels for cpu, _, _ in channel.files})
        for one in files:
            opened.callback(os.close, one)
        return ProcessMaps(files, self._now)

    @property
    def _started(self) -> ReaderLink:
        assert self._link is not None  # noqa: S101 - it was started
        return self._link

    @property
    def process(self) -> int:
        """Its ID."""
        return self._started.process

    @property
    def control(self) -> socket.socket:
        """What can be read, though nothing was asked, once it has ended."""
        return self._started.control

    def ask(self, order: str, **facts: Any) -> Any:
        """Tell it what to do, and wait until it is done: see :meth:`.ReaderLink.ask`.

        Args:
            order: What, see :mod:`.reader_process`.
            facts: What belongs to it.

        Returns:
            What it says.

        Raises:
            ReaderGoneError: It has ended, or cannot do it.
        """
        if order in _NAMING:
            facts["sections"] = self._sections.more()
        return self._started.ask(order, **facts)

    def tell(self, order: str, **facts: Any) -> None:
        """Tell it what to do if it reads; else there is nothing to do.

        Args:
            order: As :meth:`ask` has it.
            facts: What belongs to it.

        Raises:
            ReaderGoneError: It has ended, or cannot do it.
        """
        if self.is_running:
            self.ask(order, **facts)

    def run(self, **facts: Any) -> None:
        """Let it begin to read.

        Args:
            facts: What it has to know besides what processes map.

        Raises:
            ReaderGoneError: It has ended.
        """
        # It is told of what comes by now.
        maps = _read_maps() if self.has_maps else []
        self.ask("run", maps=maps, **facts)
        self.is_running = True

    def close(self) -> None:
        """Let it end, if it was started."""
        if self._link is not None:
            self._link.close()
            self._link = None


def _channel_to_read(
    channel: Channel, number: int, opened: ExitStack, *, is_compact: bool
) -> ChannelToRead:
    wanted = channel.wanted
    return ChannelToRead(
        wanted.name,
        number,
        is_compact,
        channel.plans(),
        channel.open_files(opened),
        wanted.buffer_size if wanted.is_kept else None,
        wanted.switch_timer,
        (wanted.tracefile_size, wanted.tracefile_count),
        channel.filters(),
        wanted.buffer_size,
        channel.page,
        channel.others(),
    )


def _read_maps() -> list[Any]:
    # Few traces need it.
    from .process_maps import read_processes  # noqa: PLC0415 - see above

    return read_processes()
