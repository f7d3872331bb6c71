"""When the daemon describes what the programs of a session have loaded.

A program is described before its events are enabled, and all of them when what was
recorded before goes: so each chunk and each snapshot says what its addresses mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from ...._typing import TYPE_CHECKING
from ..._collector import LoadedObjects
from .clock import Clock
from .plan import SessionPlan
from .state_dump import ProgramState

if TYPE_CHECKING:
    from ..._collector import LoadedState
    from .application import Application
    from .buffers import TraceBuffers
    from .recording import Recording

__all__ = ["Recorded", "SessionDumps"]

Recorded = Sequence[tuple["Application", "Recording"]]
"""The programs of a session."""


class SessionDumps:
    """The state dumps of a session that the daemon makes.

    Args:
        clock: What programs read times from.
        loaded: Tells what they have loaded.
    """

    def __init__(self, clock: Clock, loaded: LoadedObjects) -> None:
        self._clock, self._loaded = clock, loaded
        self._plan: SessionPlan | None = None
        self._wanted: frozenset[str] = frozenset()
        self._before: LoadedState | None = None
        self._cut: int | None = None
        """When the last chunk was cut off, if the next one is not described yet."""
        self._is_cutting = False

    def wanted(self, plan: SessionPlan) -> frozenset[str]:
        """Return the names of the events of state dumps that are recorded now.

        Args:
            plan: The session.
        """
        if plan is not self._plan:
            self._plan, self._wanted = plan, plan.state_events()
        return self._wanted

    def join(
        self, application: Application, recording: Recording, plan: SessionPlan
    ) -> None:
        """Describe a program, unless it is by now.

        Args:
            application: The program.
            recording: What it records from now on.
            plan: The session.
        """
        wanted = self.wanted(plan)
        if recording.is_described or not wanted:
            return
        state = self._read([application]).get(application)
        if state is None:
            return
        recording.is_described = True
        # What is cut off just now may have it, and what comes then is described anew.
        time = self._clock.read()
        if self._is_cutting and self._cut is not None:
            time = self._cut - 1
        recording.traces.dumps.join(id(application), state, time, wanted)

    def tell_again(self, recorded: Recorded, plan: SessionPlan) -> set[Application]:
        """Describe all programs once more.

        Args:
            recorded: The programs.
            plan: The session.

        Returns:
            Those that are described now.
        """
        wanted = self.wanted(plan)
        if not wanted or not plan.is_active:
            return set()
        states = self._read([one for one, _ in recorded])
        now = self._clock.read()
        for application, recording in recorded:
            if application in states:
                recording.is_described = True
                dumps = recording.traces.dumps
                dumps.join(id(application), states[application], now, wanted)
        return {*states}

    @contextmanager
    def cutting(self, recorded: Recorded, plan: SessionPlan) -> Iterator[None]:
        """Look at all programs before what was recorded is cut off, which is done then.

        Args:
            recorded: The programs.
            plan: The session.
        """
        self._before = None
        if self.wanted(plan) and plan.is_active:
            self._before = self._loaded.read(_pids(one for one, _ in recorded))
        self._cut = self._clock.read()
        self._is_cutting = True
        try:
            yield
        finally:
            self._is_cutting = False

    def begin(
        self, recorded: Recorded, traces: Iterable[TraceBuffers], plan: SessionPlan
    ) -> None:
        """Describe all programs when what was recorded before is gone.

        A program that has gone meanwhile had what it had, also one that came after the
        look before the cut.

        Args:
            recorded: The programs.
            traces: What they record to.
            plan: The session.
        """
        cut, self._cut = self._cut, None
        before, self._before = self._before, None
        wanted = self.wanted(plan)
        if cut is None:
            return
        states = {}
        if wanted and plan.is_active:
            states = self._read([one for one, _ in recorded], before)
            for application, recording in recorded:
                last = recording.traces.dumps.last(id(application))
                if application not in states and last is not None:
                    states[application] = last
        for one in traces:
            mine = {
                id(application): states[application]
                for application, recording in recorded
                if recording.traces is one and application in states
            }
            one.dumps.begin(mine, cut, wanted)
        for application, recording in recorded:
            recording.is_described = application in states

    def refresh(self, recorded: Recorded, plan: SessionPlan) -> None:
        """Look at all programs again, before a snapshot is written.

        Args:
            recorded: The programs.
            plan: The session.
        """
        if not self.wanted(plan):
            return
        states = self._read([one for one, _ in recorded])
        now = self._clock.read()
        for application, recording in recorded:
            if application in states:
                recording.traces.dumps.refresh(
                    id(application), states[application], now
                )

    def forget(self, application: Application, traces: TraceBuffers) -> None:
        """Note that a program is gone.

        Args:
            application: The program.
            traces: What it recorded to.
        """
        traces.dumps.forget(id(application), self._clock.read())

    def _read(
        self, applications: Sequence[Application], before: LoadedState | None = None
    ) -> dict[Application, ProgramState]:
        """Return what programs have loaded, of those that one may look into."""
        found = self._loaded.read(_pids(applications), before)
        known = set(found.processes)
        return {
            one: ProgramState(
                one.facts.pid, one.facts.name, tuple(found.objects(one.pid))
            )
            for one in applications
            if one.pid in known
        }


def _pids(applications: Iterable[Application]) -> list[int]:
    # Programs elsewhere may have no ID here.
    return [one.pid for one in applications if one.pid]
