"""What the daemon tells of the programs of a session, see :mod:`.loaded_state`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from ...._typing import NamedTuple
from .kept_states import KeptStates
from .loaded_state import LoadedObjects, LoadedState, ToldProgram
from .program import Program
from .trace import ProgramTrace

__all__ = ["ProgramStates", "joined", "told_now", "told_of"]

MOST_GONE = 256
"""Programs that have ended, and whose state snapshots tell."""


class Again(NamedTuple):
    """A program that records to a memory which it knows."""

    program: Program
    arena: int
    time: int
    """Before it was told to, as records of the memory have it."""


def told_now(program: Program) -> ToldProgram:
    """Return a program as it is told to the memories that it records to now.

    Args:
        program: The program.
    """
    hello, arenas = program.hello, frozenset(program.recorded.values())
    return ToldProgram(
        program.pid, program.vpid, hello.pid_namespace, hello.name, arenas
    )


def told_of(programs: Iterable[ToldProgram], trace: ProgramTrace) -> list[ToldProgram]:
    """Return those programs that record to a trace.

    Args:
        programs: Of a session.
        trace: The trace.
    """
    return [one for one in programs if trace.arena in one.arenas]


def joined(
    before: Iterable[ToldProgram], now: Iterable[ToldProgram]
) -> list[ToldProgram]:
    """Return programs that there were at one of two times, each once.

    Args:
        before: Those of the first.
        now: Those of the second.
    """
    found: dict[int, ToldProgram] = {one.pid: one for one in before}
    for one in now:
        known = found.get(one.pid)
        arenas = one.arenas | known.arenas if known else one.arenas
        found[one.pid] = one._replace(arenas=arenas)
    return [*found.values()]


class ProgramStates:
    """Tells what the programs of a session have loaded.

    Args:
        looks: Looks at them.
        folder: A directory of the daemon alone, which also the next one knows.
    """

    def __init__(self, looks: LoadedObjects, folder: str) -> None:
        self.kept: LoadedState | None = None
        """What snapshots tell: of when programs came, or the session was cleared."""
        self._looks = looks
        self._file = KeptStates(folder)
        self._kept: dict[int, ToldProgram] = {}
        """The programs of that, by process."""
        self._again: list[Again] = []
        self._silent: set[int] = set()
        """Processes whose state the daemon cannot tell."""

    def join(
        self, program: Program, arena: int, time: int, *, is_left: bool = False
    ) -> None:
        """Note that a program records.

        Args:
            program: The program.
            arena: The inode of the memory. If it had that before, it tells nothing of
                what it has loaded meanwhile.
            time: Before that, as records have it.
            is_left: Whether a daemon that was killed has left the memory: then nobody
                knows whether the program had it before.
        """
        if is_left or arena in program.known:
            self._again.append(Again(program, arena, time))
        program.known.add(arena)

    def take_again(self) -> list[Again]:
        """Return those that have joined again, once."""
        again, self._again = self._again, []
        return again

    def silent_of(self, programs: Iterable[Program]) -> list[Program]:
        """Return those that have to tell their state themselves.

        Args:
            programs: The programs.
        """
        return [one for one in programs if one.pid in self._silent]

    def read(
        self, programs: Sequence[ToldProgram], before: LoadedState | None = None
    ) -> LoadedState:
        """Return what programs have loaded, and have had before.

        Args:
            programs: Those that cannot be read are to be asked.
            before: What they had.
        """
        loaded = self._looks.read([one.pid for one in programs], before)
        self._silent = {one.pid for one in programs} - {*loaded.processes}
        return loaded

    def look(
        self, programs: Iterable[Program], arenas: Collection[int]
    ) -> LoadedState | None:
        """Return what those have loaded who may join again, and let snapshots know it.

        They may have ended once that is to be told.

        Args:
            programs: All that there are.
            arenas: The inodes of the memories.
        """
        again = [
            one.pid
            for one in programs
            if any(arena in one.known for arena in {*arenas} - {*one.recorded.values()})
        ]
        if not again:
            return None
        loaded = self._looks.read(again, self.kept)
        if self.kept is not None:
            self.kept = loaded
        return loaded

    def read_again(
        self, programs: Sequence[ToldProgram], had: LoadedState | None
    ) -> LoadedState:
        """Return what programs have loaded that have joined again.

        Args:
            programs: The programs.
            had: What was returned when they were looked at before.
        """
        # Snapshots know that, and who has come since.
        return self.read(programs, had if self.kept is None else self.kept)

    def tell(
        self,
        traces: Mapping[tuple[str, int], ProgramTrace],
        programs: Sequence[ToldProgram],
        loaded: LoadedState,
        times: Mapping[tuple[str, int], int] | None = None,
    ) -> None:
        """Write what programs have loaded to traces.

        Args:
            traces: The traces.
            programs: The programs.
            loaded: What they have loaded.
            times: When that was, by trace; ``None`` is when the present chunk began. In
                traces that are newer, programs have told it before all else.
        """
        for key, trace in traces.items():
            if times is not None and key not in times:
                continue
            told = told_of(programs, trace)
            time = None if times is None else times[key]
            if not trace.write_state(told, loaded, time):
                self._silent |= {one.pid for one in told}

    def keep(
        self, programs: Iterable[ToldProgram], loaded: LoadedState, here: set[int]
    ) -> None:
        """Let snapshots tell what programs have loaded.

        Args:
            programs: The programs.
            loaded: What they have loaded, and others that are kept.
            here: The processes of all programs that there are; of those that are gone
                not too many are kept.
        """
        for one in programs:
            self._note(one)
        self._file.write(self._kept, self._set_kept(loaded, here))

    def keep_first(self, program: Program, arena: int, here: set[int]) -> None:
        """Let snapshots tell what a program has when it comes.

        It may be gone at the next snapshot, and so may what it has told itself.

        Args:
            program: The program.
            arena: The inode of the memory to which it records now.
            here: As above.
        """
        known = self._kept.get(program.pid)
        if known is None or arena not in known.arenas:
            told = self._note(told_now(program))
            loaded = self._looks.read([program.pid], self.kept)
            self._file.add(told, self._kept, self._set_kept(loaded, here))

    def _note(self, program: ToldProgram) -> ToldProgram:
        """Note to which memories a program has recorded, also for another daemon."""
        known = self._kept.get(program.pid)
        [told] = joined([known] if known else [], [program])
        self._kept[program.pid] = told
        return told

    def _set_kept(self, loaded: LoadedState, here: set[int]) -> LoadedState:
        """Forget the oldest of those that are gone, if they are many."""
        gone = [one for one in self._kept if one not in here]
        for process in gone[:-MOST_GONE]:
            del self._kept[process]
        if len(gone) > MOST_GONE:
            loaded = loaded.only([*self._kept])
        self.kept = loaded
        return loaded

    def take_over(self) -> None:
        """Let snapshots tell what a daemon knew that was killed."""
        self._kept, self.kept = self._file.read()

    def forget(self) -> None:
        """Let snapshots tell nothing of what was before."""
        self._kept, self.kept = {}, None

    def for_snapshot(
        self, programs: Iterable[ToldProgram]
    ) -> tuple[list[ToldProgram], LoadedState]:
        """Return all programs that a snapshot tells of, and what they have loaded.

        Args:
            programs: Those that record now.
        """
        told = joined(self._kept.values(), programs)
        return told, self._looks.read([one.pid for one in told], self.kept)
