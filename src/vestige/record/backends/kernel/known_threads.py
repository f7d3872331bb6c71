"""What must be known of threads for a trace of the kernel, and what is told of them."""

from __future__ import annotations

from ...._typing import TYPE_CHECKING
from .proc_files import is_in_pid_namespace
from .process_events import ProcessEvents, read_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from .channel import Channel
    from .kernel_ids import KernelIds
    from .namespace_watch import NamespaceWatch, SpacesRead
    from .tracefs import Tracefs

__all__ = ["KnownThreads"]

_SOURCES = {"pid": "process", "vpid": "spaces"}
"""What inclusion sets need to know; those of users and groups need these."""


class KnownThreads:
    """Lets it be told whose threads there are, if contexts or inclusion sets need it.

    Args:
        tracefs: Where the events are that tell it.
        channels: All channels, once they are made.
        ids: Knows the kernel's IDs.
        now: Gives the present value of the clock.
    """

    def __init__(
        self,
        tracefs: Tracefs,
        channels: Sequence[Channel],
        ids: KernelIds,
        now: Callable[[], int],
    ) -> None:
        self._tracefs, self._channels = tracefs, channels
        self._ids, self._now = ids, now
        self.tracked: dict[str, list[int]] = {}
        """The inclusion sets in which not everybody is."""
        self.events: ProcessEvents | None = None
        """What tells it; ``None``: nobody asks for it."""
        self._spaces: NamespaceWatch | None = None
        self._is_unread = False
        """Whether more is told of threads than was read of them."""

    def track(self, tracked: Mapping[str, list[int] | None]) -> None:
        """Take other inclusion sets.

        Args:
            tracked: The inclusion sets, see :class:`.wanted.Wanted`.
        """
        self.tracked = {kind: ids for kind, ids in tracked.items() if ids is not None}

    def begin(self, clock: str, *, may_grow: bool) -> None:
        """Let it be told whose threads there are, if anybody asks or may ask for it.

        Args:
            clock: The clock of the recording, by the kernel's name.
            may_grow: Whether anybody may ask for it later.

        Raises:
            OSError: What tells it cannot be made.
        """
        if self._sources() or may_grow:
            self.events = ProcessEvents(self._tracefs, clock)
            # Before the events of the channels: what changes at an event is told then.
            self._need()

    def _sources(self) -> set[str]:
        """Return what must be known of threads."""
        found = {_SOURCES.get(kind, "ids") for kind in self.tracked}
        return found.union(*(one.sources() for one in self._channels))

    def _need(self) -> None:
        """Let it be told what must be known of threads."""
        sources = self._sources()
        if self.events is not None:
            self._is_unread |= self.events.need(sources)
        is_watched = "spaces" in sources and not is_in_pid_namespace()
        if is_watched and self._spaces is None:
            # Few traces need it.
            from .namespace_watch import NamespaceWatch  # noqa: PLC0415 - see above

            self._spaces = NamespaceWatch(self._tracefs, self._now)

    def take_new(self) -> dict[str, Any]:
        """Return what the process that reads has to know, of orders that need it.

        Returns:
            ``known``: what is known of threads, if more must be known than before.
            ``has_ids``: whether anybody asks for users, and processes have the same IDs
            here.

        Raises:
            OSError: What tells it cannot be made, or the kernel refuses it.
        """
        self._need()
        known: list[Any] = []
        if self._is_unread:
            self._is_unread = False
            known = read_threads(self._now, self._ids.find_all())
        has_ids = "ids" in self._sources() and not is_in_pid_namespace()
        return {"known": known, "has_ids": has_ids}

    @property
    def are_spaces_watched(self) -> bool:
        """Whether the namespaces that threads come into are looked at."""
        return self._spaces is not None

    @property
    def descriptors(self) -> list[int]:
        """What can be read once threads have come into others."""
        return [] if self._spaces is None else self._spaces.descriptors

    def read_spaces(self) -> list[SpacesRead]:
        """Look at the namespaces that threads have come into."""
        return [] if self._spaces is None else self._spaces.read()

    def close(self) -> None:
        """Remove the instances."""
        if self.events is not None:
            self.events.close()
            self.events = None
        if self._spaces is not None:
            self._spaces.close()
            self._spaces = None
