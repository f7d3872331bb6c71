"""What has begun and not ended: coroutines, spans, and who is in them."""

from __future__ import annotations

from ..threads import Thread
from .activity import Activity
from .waits import Place, WaitSums

__all__ = ["OpenCoroutine", "OpenSpan", "ProcessKey", "Runner"]

ProcessKey = tuple[int, int]
"""The process space of the data stream, and the process ID."""


class OpenCoroutine:
    """A call of a coroutine function.

    Args:
        activity: The function.
        began: When it began, nanoseconds; ``None`` if that was not seen.
        thread: The thread in which it goes on first.
        keeps_waits: Whether to add up where it waits.
    """

    __slots__ = (
        "activity", "began", "is_uncertain", "place", "resumes", "running", "since",
        "spans", "thread", "waits", "waits_on", "waits_since",
    )  # fmt: skip

    def __init__(
        self,
        activity: Activity,
        began: int | None,
        thread: Thread,
        *,
        keeps_waits: bool,
    ) -> None:
        self.activity = activity
        self.began = began
        self.thread = thread
        self.running = 0
        self.resumes = 0
        self.since: int | None = None
        self.is_uncertain = False
        self.spans: list[OpenSpan] = []
        self.waits = WaitSums() if keeps_waits else None
        self.place: Place | None = None
        """Where it waits."""
        self.waits_since = 0
        """Since when, nanoseconds."""
        self.waits_on: tuple[Runner, int] | None = None
        """Where it ran, and how long coroutines had run there."""

    def wait(self, place: Place | None, time: int, runner: Runner) -> None:
        """Begin to wait.

        Args:
            place: Where.
            time: When, nanoseconds.
            runner: The thread.
        """
        self.place, self.waits_since = place, time
        self.waits_on = runner, runner.ran(time)
        for span in self.spans:
            span.stop(time)

    def go_on(self, time: int, runner: Runner) -> None:
        """End to wait.

        Args:
            time: When, nanoseconds.
            runner: The thread.
        """
        self.resumes += 1
        waited, place = time - self.waits_since, self.place
        self.place, others = None, 0
        if self.waits_on is not None and self.waits_on[0] is runner:
            others = min(runner.ran(time) - self.waits_on[1], waited)
        if place is not None and self.waits is not None:
            self.waits.note(place, self.waits_since, waited, others)
        for span in self.spans:
            span.resumes += 1
            span.since = time
            if place is not None and span.waits is not None:
                span.waits.note(place, self.waits_since, waited, others)


class OpenSpan:
    """A span.

    Args:
        activity: All of its name.
        began: When it began, nanoseconds.
        thread: The thread in which it began.
        waits_are_known: Whether its waits are known although it is in no coroutine: it
            has none.
        keeps_waits: Whether to add up where it waits.
    """

    __slots__ = (
        "activity", "began", "carrier", "fields", "is_uncertain", "resumes", "running",
        "since", "task", "thread", "waits", "waits_are_known",
    )  # fmt: skip

    def __init__(
        self,
        activity: Activity,
        began: int,
        thread: Thread,
        *,
        waits_are_known: bool,
        keeps_waits: bool,
    ) -> None:
        self.activity = activity
        self.began = began
        self.thread = thread
        self.carrier: OpenCoroutine | None = None
        self.since: int | None = began
        self.running = 0
        self.resumes = 0
        self.is_uncertain = False
        self.waits_are_known = waits_are_known
        self.waits = WaitSums() if keeps_waits else None
        self.task: str | None = None
        self.fields: dict[str, object] = {}

    def carried_by(self, carrier: OpenCoroutine) -> None:
        """Run from now on as long as a coroutine does.

        Args:
            carrier: The coroutine.
        """
        self.carrier = carrier
        self.waits_are_known = True
        carrier.spans.append(self)

    def stop(self, time: int) -> None:
        """Run no more, for now.

        Args:
            time: When, nanoseconds.
        """
        if self.since is not None:
            self.running += time - self.since
            self.since = None


class Runner:
    """A data stream: the coroutines that are running in it, one within the other.

    Args:
        process: Its process.
        thread: Its thread.
        is_wanted: Whether what it does counts.
    """

    def __init__(self, process: ProcessKey, thread: Thread, *, is_wanted: bool) -> None:
        self.process = process
        self.thread = thread
        self.is_wanted = is_wanted
        self.stack: list[OpenCoroutine] = []
        self.rootless: list[OpenSpan] = []
        """Spans of a task whose coroutine has not begun."""
        self.has_lost = False
        """Whether it may be in coroutines that are not in the stack."""
        self.awaited: tuple[int, Place] | None = None
        """How deep the coroutine was that waits since the last event, and where."""
        self._ran = 0
        self._runs_since: int | None = None

    def ran(self, time: int) -> int:
        """Return how long coroutines ran here, all of them together.

        Args:
            time: Up to when, nanoseconds.
        """
        return self._ran + (0 if self._runs_since is None else time - self._runs_since)

    def enter(self, one: OpenCoroutine, time: int) -> None:
        """Run a coroutine, within those that run.

        Args:
            one: The coroutine.
            time: When, nanoseconds.
        """
        if self._runs_since is None:
            self._runs_since = time
        self.stack.append(one)

    def leave(self, one: OpenCoroutine, time: int) -> int | None:
        """Leave a coroutine, and all that run within it.

        Args:
            one: The coroutine.
            time: When, nanoseconds.

        Returns:
            How many it ran within; ``None`` if it is not known to run.
        """
        if one not in self.stack:
            return None
        depth = self.stack.index(one)
        del self.stack[depth:]
        if not self.stack:
            self._ran, self._runs_since = self.ran(time), None
        return depth

    def lose(self) -> None:
        """Forget what runs: records were lost."""
        self.stack.clear()
        self.has_lost = True
        self.awaited = self._runs_since = None
