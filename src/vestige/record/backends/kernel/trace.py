"""A trace of the kernel: what it is made of, and what can be asked of it."""

from __future__ import annotations

import os

from ...._typing import TYPE_CHECKING
from .channel import Channel
from .channel_totals import ChannelTotals
from .kernel_ids import KernelIds
from .known_threads import KnownThreads
from .left_out_threads import LeftOutThreads
from .proc_files import threads_of
from .state_records import StateRecords
from .sub_buffers import page_bytes
from .trace_reader import TraceReader
from .trace_text import TraceText
from .tracefs import NoKernelTracerError

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from .tracefs import Tracefs
    from .wanted import ChannelWanted, Wanted

__all__ = ["KernelTrace"]


class KernelTrace:
    """A trace that is ready to be recorded, in instances of its own.

    Args:
        tracefs: Where these are made.
        wanted: What is recorded.
        now: Gives the present value of the clock.

    Raises:
        NoKernelTracerError: The kernel cannot record so, or nothing of it.
        ReaderGoneError: A file of the trace cannot be made.
        OSError: A file of the kernel cannot be opened.
    """

    def __init__(
        self, tracefs: Tracefs, wanted: Wanted, now: Callable[[], int]
    ) -> None:
        self._wanted = wanted
        self._reader = TraceReader(page_bytes(tracefs), now)
        self._problems: list[str] = []
        self._channels: list[Channel] = []
        channels, ids = self._channels, KernelIds(tracefs, self._note)
        self._known = KnownThreads(tracefs, channels, ids, now)
        self._known.track(wanted.tracked)
        self._left_out = LeftOutThreads(channels, ids, now, self._reader.tell)
        self._state = StateRecords(channels, ids, now, self._reader.ask, self._note)
        self._totals = ChannelTotals(channels, self._reader, self._note)
        try:
            self._make_channels(tracefs)
            self._follow_threads()
            self._text = TraceText(wanted, channels)
            for channel in self._channels:
                channel.switch()
            self._reader.start(wanted, channels, self._text.compact, self._known.events)
            text = self._text.whole()
            self.directory: str | None = self._reader.ask("open", metadata=text)
            """Where it is written to; ``None`` if nothing but snapshots is."""
        except BaseException:
            self.close()
            raise

    def _make_channels(self, tracefs: Tracefs) -> None:
        wanted = self._wanted
        for one in wanted.channels:
            self._channels.append(Channel(tracefs, self._clock, one))
        is_text_wanted = wanted.grows or wanted.logger is not None
        if not is_text_wanted and not any(one.has_events() for one in self._channels):
            why = "; ".join(self.take_problems())
            raise NoKernelTracerError(why or "none of the events is in this kernel")

    def _follow_threads(self) -> None:
        """Let it be told whose threads there are, and let the kernel choose by them."""
        self._known.begin(self._clock, may_grow=self._wanted.grows)
        for channel in self._channels:
            if self._wanted.is_followed:
                channel.follow(None)
            elif "pid" in self._known.tracked:
                channel.track(self._known.tracked["pid"])

    @property
    def watched(self) -> list[int]:
        """What can be read once there is something to look at."""
        return [*self._known.descriptors, *self._left_out.descriptors]

    @property
    def pause(self) -> float | None:
        """Seconds after which one looks in any case; ``None``: there is no need."""
        return self._left_out.pause

    def look(self) -> None:
        """Look at what can be read: which threads of the recorder have ended, first.

        Raises:
            OSError: The kernel refuses what it is told.
            ReaderGoneError: The process that reads has ended.
        """
        self._left_out.forget_ended()
        read = self._known.read_spaces()
        if read:
            self._reader.tell("spaces", read=read)

    @property
    def _clock(self) -> str:
        return "x86-tsc" if self._wanted.clock.is_counter else "mono"

    def take_problems(self) -> list[str]:
        """Return what cannot be recorded, and why; each is told once."""
        own, self._problems = self._problems, []
        problems = [text for one in self._channels for text in one.problems] + own
        for one in self._channels:
            one.problems = []
        return list(dict.fromkeys(problems))

    def note_missing_state(self, error: OSError) -> None:
        """Let it be told that a part of the state could not be read.

        Args:
            error: Why.
        """
        self._state.note_missing(error)

    def _note(self, problem: str) -> None:
        self._problems.append(problem)

    @property
    def reader(self) -> socket.socket:
        """What can be read, though nothing was asked, once the reader has ended."""
        return self._reader.control

    def start(self, left_out: Sequence[int], *, is_whole: bool = False) -> None:
        """Record, and read which threads there are.

        :meth:`complete_state` comes before anything else, and reads the rest of the
        state: what begins in the meantime is told by events. So whoever waits for this
        waits for no more than it takes to read the threads.

        Args:
            left_out: Threads of the recorder, which are not recorded.
            is_whole: Whether all of the state is read at once.

        Raises:
            ReaderGoneError: The process that reads has ended.
        """
        # Threads that the reader starts are left out with it.
        lasting = [os.getpid(), self._reader.process]
        self._left_out.leave_out(left_out, lasting=lasting)
        self._state.prepare()
        self._run()
        # Buffers would be full before the state was read.
        self._reader.ask("wait_for_own")
        for one in self._channels:
            one.record(is_on=True)
        self._state.begin()
        if is_whole or self._is_looked_after:
            self.complete_state()

    @property
    def _is_looked_after(self) -> bool:
        """Whether what comes must be looked at or passed on soon."""
        is_logged = self._wanted.logger is not None
        return is_logged or self._reader.has_maps or self._known.are_spaces_watched

    def complete_state(self) -> None:
        """Read the state that :meth:`start` has left, if it has left any.

        Raises:
            ReaderGoneError: The process that reads has ended.
        """
        self._state.complete()
        self._left_out.leave_out_of_channels(threads_of(self._reader.process))
        self._state.end()

    def _run(self) -> None:
        """Begin to read, unless that was done before."""
        if not self._reader.is_running:
            self._reader.run(
                **self._known.take_new(),
                tracked=self._known.tracked,
                left_out=self._left_out.since,
            )

    def dump(self) -> None:
        """Record the state that there is now.

        Raises:
            ReaderGoneError: The process that reads has ended.
        """
        self._state.prepare()
        self._run()
        self._reader.ask("wait_for_own")
        self._state.pass_all()
        self._state.end()

    def leave_out(self, threads: Sequence[int]) -> None:
        """Record nothing more of some threads.

        Raises:
            ReaderGoneError: The process that reads has ended.
        """
        self._left_out.leave_out(threads)

    def follow(self, thread: int) -> None:
        """Record what a thread starts from now on, and nothing of itself.

        Args:
            thread: Its ID.

        Raises:
            ReaderGoneError: The process that reads has ended, or the kernel has another
                ID that is not known.
        """
        self._left_out.follow(thread)

    def change(self, wanted: Sequence[ChannelWanted]) -> None:
        """Record what is wanted now.

        Args:
            wanted: The channels, in their order.

        Raises:
            ReaderGoneError: The process that reads has ended.
        """
        text = ""
        for number, (channel, one) in enumerate(
            zip(self._channels, wanted, strict=True)
        ):
            channel.change(one)
            text += self._text.declare_new(number)
        if self._reader.is_running:
            plans = {number: one.plans() for number, one in enumerate(self._channels)}
            filters = {
                number: one.filters() for number, one in enumerate(self._channels)
            }
            others = {number: one.others() for number, one in enumerate(self._channels)}
            self._reader.ask(
                "change",
                metadata=text,
                plans=plans,
                filters=filters,
                others=others,
                **self._known.take_new(),
            )
        for channel in self._channels:
            channel.switch()

    def track(self, tracked: Mapping[str, list[int] | None]) -> None:
        """Record other processes and users from now on.

        Args:
            tracked: The inclusion sets, see :class:`.wanted.Wanted`.

        Raises:
            ReaderGoneError: The process that reads has ended.
        """
        self._known.track(tracked)
        if self._reader.is_running:
            new = self._known.take_new()
            self._reader.ask("track", tracked=self._known.tracked, **new)
        for channel in self._channels:
            channel.track(self._known.tracked.get("pid"))

    def stop(self) -> list[dict[str, Any]]:
        """Record nothing for the moment; all that was recorded is in files then.

        Returns:
            What became of each channel.

        Raises:
            ReaderGoneError: The process that reads has ended.
        """
        for one in self._channels:
            one.record(is_on=False)
        return self._totals.ask_last("flush", is_stopped=True)

    def rotate(self, directory: str) -> list[dict[str, Any]]:
        """Let what comes from now on be in another directory.

        Args:
            directory: It is made.

        Returns:
            What became of each channel.

        Raises:
            ReaderGoneError: The process that reads has ended, or cannot make it.
        """
        text = self._text.whole()
        return self._totals.ask(
            "cut", directory=directory, metadata=text, is_dropped=False
        )

    def clear(self, directory: str, old: str) -> list[dict[str, Any]]:
        """Throw away what there is, and go on in another directory.

        Args:
            directory: It is made.
            old: Where the one is that was written to up to now; it is removed.

        Raises:
            ReaderGoneError: As of :meth:`rotate`.
        """
        text = self._text.whole()
        return self._totals.ask(
            "cut", directory=directory, metadata=text, is_dropped=True, old=old
        )

    def snapshot(self, directory: str, most: Sequence[int | None]) -> None:
        """Write what the buffers hold, which stays in memory.

        Args:
            directory: It is made.
            most: By channel, how many bytes of each CPU, the newest; ``None``: all.

        Raises:
            ReaderGoneError: As of :meth:`rotate`.
        """
        sizes = [
            channel.wanted.buffer_size if one is None else one
            for channel, one in zip(self._channels, most, strict=True)
        ]
        self._totals.ask(
            "copy", directory=directory, metadata=self._text.whole(), most=sizes
        )

    def hold(self, *, is_held: bool) -> None:
        """Read nothing for the moment, or go on.

        Args:
            is_held: Whether nothing is read; buffers may run full meanwhile.

        Raises:
            ReaderGoneError: The process that reads has ended.
        """
        self._reader.tell("hold", is_held=is_held)

    def write_metadata(self) -> None:
        """Write the metadata anew.

        Raises:
            ReaderGoneError: The process that reads has ended, or cannot write.
        """
        self._reader.ask("metadata", metadata=self._text.whole())

    def set_rate(self, frequency: int, offset: int) -> None:
        """Know the rate of the clock better, for metadata that are written from now on.

        Args:
            frequency: Values in a second.
            offset: What is added to each value for that since the Unix epoch.

        Raises:
            ReaderGoneError: The process that reads has ended.
        """
        self._text.set_rate(frequency, offset)
        self._reader.ask("describe", metadata=self._text.whole())

    def counts(self, *, is_read: bool) -> list[dict[str, Any]]:
        """Return what became of each channel up to now.

        Args:
            is_read: Whether buffers are read before that.
        """
        return self._totals.ask("counts", is_read=is_read)

    def end(self) -> list[dict[str, Any]]:
        """Record nothing more, and complete the files.

        Returns:
            What became of each channel.

        Raises:
            ReaderGoneError: The process that reads has ended.
        """
        for one in self._channels:
            one.record(is_on=False)
        return self._totals.ask_last("end", metadata=self._text.whole())

    def close(self) -> None:
        """Remove the instances."""
        self._reader.close()
        self._left_out.close()
        for one in self._channels:
            one.close()
        self._channels.clear()
        self._known.close()
