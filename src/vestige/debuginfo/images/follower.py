"""Following the images of processes through the merges of traces.

Whoever asks what an address means needs the image of its process as it was at that
point of the trace. So the core goes through the event records of a merge, and stops at
those that may change an image; what it found up to there belongs to the images before
the change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ... import core
from ..._typing import NamedTuple, Protocol
from ...units import Vpid
from .image import ProcessImages
from .kernel_image import KERNEL, KernelImages
from .state_events import apply

__all__ = ["ImageFollower", "StateEvent", "Stopping"]


class Stopping(Protocol):
    """Goes through the event records of merges: a column of places, a fold of calls."""

    def begin(self, merge: core.Merge) -> None:
        """Begin a merge.

        Args:
            merge: The next merge, in order.
        """

    def advance(self) -> tuple[int, int, int] | None:
        """Go on to the next event record that may change an image, or to the end.

        Returns:
            The index of the event record, the process space and the process.
        """


class StateEvent(NamedTuple):
    """An event that may change the image of its process."""

    name: str
    """Its full name."""
    fields: Mapping[str, object]
    """Its payload."""
    space: int
    """Where the process ID counts: one space for each PID namespace of a recording."""
    vpid: Vpid
    """The process."""


class ImageFollower:
    """The images of all processes, at the present point of the traces.

    Args:
        stopping: What goes through the event records.
        take: Called when it has stopped, before an image changes, and at the end of a
            merge: what was found so far belongs to the images as they are.
        ahead: Called when a merge has begun and after each stop: what comes before the
            next one belongs to the images as they are.
        kernels: The code of the kernels of traces.
    """

    def __init__(
        self,
        stopping: Stopping,
        take: Callable[[], object],
        ahead: Callable[[], object] = lambda: None,
        kernels: KernelImages | None = None,
    ) -> None:
        self._kernels = kernels or KernelImages()
        self._stopping = stopping
        self._take = take
        self._ahead = ahead
        self._spaces: dict[int, ProcessImages] = {}

    def images(self, space: int) -> ProcessImages:
        """Return the images of the processes of a process space.

        Args:
            space: The process space.
        """
        found = self._spaces.get(space)
        if found is None:
            found = self._spaces[space] = ProcessImages()
            self._put_kernel(space)
        return found

    def look_at_kernels(self) -> list[int]:
        """Take what traces tell of their kernels by now.

        Returns:
            The process spaces in which more is known.
        """
        changed = self._kernels.changed()
        for space in changed:
            self._put_kernel(space)
        return changed

    def _put_kernel(self, space: int) -> None:
        image = self._kernels.get(space)
        if image is not None and space in self._spaces:
            self._spaces[space].put(KERNEL, image)

    def follow(self, merge: core.Merge) -> Iterator[StateEvent]:
        """Go through a merge.

        Args:
            merge: The next merge, in order.

        Yields:
            The events at which the core stops; :meth:`apply` lets one change its image.
        """
        self._stopping.begin(merge)
        self._ahead()
        while (stop := self._stopping.advance()) is not None:
            self._take()
            index, space, vpid = stop
            event = merge.event(index)
            fields = event.payload.to_dict()
            yield StateEvent(event.name or "", fields, space, Vpid(vpid))
            self._ahead()
        self._take()

    def apply(self, event: StateEvent) -> bool:
        """Let an event change the image of its process.

        Args:
            event: The event.

        Returns:
            Whether what was known of other addresses may be wrong now.
        """
        images = self.images(event.space)
        image = images.of(event.vpid)
        before = image.version
        apply(images, event.name, event.vpid, event.fields)
        return image.version != before
