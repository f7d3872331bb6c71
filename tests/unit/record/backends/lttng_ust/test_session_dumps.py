"""When the daemon describes the programs of a session."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from vestige.record.backends.lttng_ust.session_dumps import SessionDumps
from vestige.record.backends.lttng_ust.state_dump import ProgramState

WANTED = frozenset(["start", "bin_info", "end"])
PLAN = SimpleNamespace(is_active=True, state_events=lambda: WANTED)


class Loaded:
    """Tells what processes have loaded, of those that are there."""

    def __init__(self):
        self.there = {}

    def read(self, pids, before=None):
        """Return what there is, and what there was."""
        known = dict(before.known) if before is not None else {}
        known |= {pid: self.there[pid] for pid in pids if pid in self.there}
        known = {pid: known[pid] for pid in pids if pid in known}
        return SimpleNamespace(
            known=known, processes=[*known], objects=lambda pid: known[pid]
        )


class Dumps:
    """Notes what a trace is told."""

    def __init__(self):
        self.known, self.begun = {}, None

    def join(self, key, state, time, wanted):
        """Describe a program."""
        del time, wanted
        self.known[key] = state

    def last(self, key):
        """Return what it had."""
        return self.known.get(key)

    def begin(self, states, time, wanted):
        """Describe all."""
        del time, wanted
        self.known = self.begun = dict(states)


class Application:
    """A program."""

    def __init__(self, pid):
        self.pid, self.facts = pid, SimpleNamespace(pid=pid, name="p")


def program(pid, traces):
    """Return a program that records, and what it records."""
    return Application(pid), SimpleNamespace(is_described=False, traces=traces)


@pytest.mark.parametrize("comes_late", [False, True])
def test_who_ends_while_a_chunk_is_cut_off_is_described(comes_late):
    """Also one that came after the look before the cut, and that nobody misses yet."""
    loaded = Loaded()
    times = iter(range(100))
    clock = SimpleNamespace(read=lambda: next(times))
    dumps = SessionDumps(clock, loaded)
    traces = SimpleNamespace(dumps=Dumps())
    one = program(7, traces)
    objects = ((0x1000, 4096, b"/o", True, b"", None),)
    loaded.there[7] = objects
    recorded = [] if comes_late else [one]
    if not comes_late:
        dumps.join(*one, PLAN)
    with dumps.cutting(recorded, PLAN):
        dumps.join(*one, PLAN)
    del loaded.there[7]
    dumps.begin([one], [traces], PLAN)
    assert traces.dumps.begun == {id(one[0]): ProgramState(7, "p", objects)}
    assert one[1].is_described


def test_who_was_never_seen_is_not_described():
    """There is nothing to tell of a program that ended before the first look."""
    clock = SimpleNamespace(read=lambda: 1)
    dumps = SessionDumps(clock, Loaded())
    traces = SimpleNamespace(dumps=Dumps())
    one = program(7, traces)
    with dumps.cutting([one], PLAN):
        pass
    dumps.begin([one], [traces], PLAN)
    assert traces.dumps.begun == {}
    assert not one[1].is_described
