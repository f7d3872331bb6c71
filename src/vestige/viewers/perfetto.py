"""Calls and events as a trace of Perfetto, which https://ui.perfetto.dev opens.

The core writes the packets; here is what it cannot know: names of functions, processes
and threads. Whatever the size of the trace, nothing is kept but these.
"""

from __future__ import annotations

from .. import core
from .._typing import TYPE_CHECKING
from ..analysis.each_call import EachCall, Wanted
from ..debuginfo import Resolver
from .names import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..graph import Stream

__all__ = ["PerfettoSink"]

WAITING = 1 << 20
"""Bytes that are put together before they are written."""


class PerfettoSink(EachCall):
    """Hands over to the core what is read, and the names that it asks for.

    Args:
        resolver: Names functions.
        streams: The data streams.
        descriptor: Of the file.
        wanted: Which part of the traces is read.
    """

    def __init__(
        self,
        resolver: Resolver,
        streams: Sequence[Stream],
        descriptor: int,
        *,
        wanted: Wanted,
    ) -> None:
        super().__init__(resolver, streams, wanted=wanted)
        self.is_loose = not self.needs_calls
        self.size = 0
        """How many bytes were written."""
        self._descriptor = descriptor
        self._writer = core.PerfettoWriter()
        self.fold.note_steps()
        self._processes: dict[tuple[int, int], str] = {}
        self._tracks: list[tuple[int, int, int, int, int | None]] = []
        self._labels: list[str] = []
        self._written_names = 0
        self._written_losses = 0

    def loose_classes(self, stream: Stream) -> list[bool]:
        """Tell which event records need not be in order with those of other threads.

        The calls of each thread are a sequence of packets; all other events are one.
        """
        if not self.is_loose:
            return []
        return self.fold.loose_classes(stream.handle, only_calls=True)

    def take(self, merge: core.Merge | None) -> None:
        """Write what is new."""
        writer = self._writer
        writer.add_calls(self.fold)
        if merge is not None:
            writer.add_events(merge, self.fold)
        for loss in self.losses[self._written_losses :]:
            count = "" if loss.count is None else f"{loss.count} "
            writer.add_loss(
                f"{count}{loss.kind} lost", loss.count, loss.begin, loss.end
            )
        self._written_losses = len(self.losses)
        for index, _, space, vpid, vtid, cpu in writer.take_tracks():
            self._tracks.append((index, space, vpid, vtid, cpu))
            self._labels.append(self._label(space, vpid, vtid, cpu))
            writer.describe_track(index, shown(self._labels[-1]))
        if merge is None:
            writer.end_spans()
            self._describe_again()
        elif not self.all_are_named or writer.waiting < WAITING:
            return
        writer.name_functions(
            [shown(one.name) for one in self.named[self._written_names :]]
        )
        self._written_names = len(self.named)
        self.size += writer.write(self._descriptor)

    def _label(self, space: int, vpid: int, vtid: int, cpu: int | None) -> str:
        name = self.process_name(space, vpid) or ""
        process = space, vpid
        if vpid >= 0 and process not in self._processes:
            self._processes[process] = name
            self._writer.describe_process(space, vpid, shown(name) or "process")
        if vtid >= 0:
            label = self.thread_name(space, vpid, vtid) or "thread"
        elif cpu is not None:
            label = f"CPU {cpu}"
        else:
            label = name or "events"
        return label

    def _describe_again(self) -> None:
        """Tell names that were learned after threads and processes were seen."""
        late = {
            (space, vpid)
            for (space, vpid), name in self._processes.items()
            if self.process_name(space, vpid) != (name or None)
        }
        for space, vpid in late:
            name = self.process_name(space, vpid) or "process"
            self._writer.describe_process(space, vpid, shown(name))
        for track, before in zip(self._tracks, self._labels, strict=True):
            index, space, vpid, vtid, cpu = track
            label = self._label(space, vpid, vtid, cpu)
            if label != before:
                self._writer.describe_track(index, shown(label))
