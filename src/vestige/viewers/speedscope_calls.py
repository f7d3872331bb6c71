"""Single calls as files of speedscope: for ranges of time, since it reads all."""

from __future__ import annotations

from .. import core
from .._typing import TYPE_CHECKING
from ..analysis.each_call import EachCall, Wanted
from ..debuginfo import Resolver
from .names import label
from .speedscope import Frames, document

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..graph import Stream

__all__ = ["SpeedscopeSink"]

_BEGINS, _UNSEEN = 4, 3
"""What steps are, by their numbers in the core; the others end a call."""


class SpeedscopeSink(EachCall):
    """Keeps all begins and ends of calls, by thread.

    Args:
        resolver: Names functions.
        streams: The data streams.
        wanted: Which part of the traces is read.
    """

    def __init__(
        self, resolver: Resolver, streams: Sequence[Stream], *, wanted: Wanted
    ) -> None:
        super().__init__(resolver, streams, wanted=wanted)
        self.fold.note_steps()
        self._steps: dict[int, list[tuple[int, int, bool]]] = {}
        self._origin: int | None = None

    def take(self, merge: core.Merge | None) -> None:
        """Keep what is new."""
        del merge
        for at, thread, function, step in self.fold.take_steps():
            if step == _UNSEEN:
                continue  # Nobody knows when it began.
            if self._origin is None:
                self._origin = at
            steps = self._steps.setdefault(thread, [])
            # A call of which the end is not known ends with what it called, not before.
            time = max(at, steps[-1][0]) if steps else at
            steps.append((time, function, step == _BEGINS))

    def text(self, name: str) -> str:
        """Return the file.

        Args:
            name: A name for it, which is shown as its title.
        """
        frames = Frames()
        threads = self.fold.threads()
        profiles = []
        for thread, steps in sorted(self._steps.items()):
            space, vpid, vtid = threads[thread][:3]
            ids = (None if one < 0 else one for one in (vpid, vtid))
            title = label(self.thread_name(space, vpid, vtid), *ids)
            profiles.append(self._profile(title, steps, frames))
        return document(profiles, frames, name)

    def _profile(
        self, title: str, steps: list[tuple[int, int, bool]], frames: Frames
    ) -> dict[str, Any]:
        origin = self._origin or 0
        events = [
            {
                "type": "O" if begins else "C",
                "frame": frames.number(self.function(function)),
                "at": time - origin,
            }
            for time, function, begins in steps
        ]
        return {
            "type": "evented",
            "name": title,
            "unit": "nanoseconds",
            "startValue": events[0]["at"],
            "endValue": events[-1]["at"],
            "events": events,
        }
