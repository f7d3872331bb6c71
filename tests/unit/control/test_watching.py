"""What is recorded now is what the trace has at the end."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import vestige
from support.own_programs import STEP, build_ordered, ordered, wait_for_listed
from support.session_daemon import SECONDS, SessionDaemon
from support.waiting import wait_until
from vestige.control.watching import Look, Watch, WatchedSession

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with a tracepoint."""
    return build_ordered(tmp_path_factory.mktemp("ordered"))


def seen(watch: Watch, is_so: Callable[[Look], bool]) -> Look:
    """Look until something is seen, and return that."""
    found: list[Look] = []

    def look() -> bool:
        found[:] = [watch.look()]
        return is_so(found[0])

    wait_until(look, "it is seen", SECONDS)
    return found[0]


def counts(session: WatchedSession) -> tuple[int | None, int]:
    """Return event records, and those that found no room."""
    return session.counts.events, session.counts.discarded_events


def test_events_are_those_of_the_trace(
    home: SessionDaemon, program: Path, tmp_path: Path
):
    """While it is recorded, and when it is stopped; another channel has its own."""
    with vestige.Session("s", output=tmp_path / "t") as session:
        session.add_channel("ch").enable_event(STEP)
        session.add_channel("other").enable_event(STEP, filter="number < 10")
        session.start()
        watch = Watch(session.client)
        with ordered(home, program) as one:
            wait_for_listed(home, one)
            first = seen(watch, lambda look: look.sessions[0].counts.is_exact)
            before = first.sessions[0].counts.events
            assert before is not None
            one.do("3000")
            look = seen(
                watch,
                lambda look: look.sessions[0].counts.events == before + 3010,
            )
            assert look.sessions[0].counts.is_exact
            assert look.seconds is not None
            assert [
                (one["pid"], one["tracer"], one["sessions"]) for one in look.programs
            ] == [(one.process.pid, "vestige", ["s"])]
            session.stop()
            last = watch.look().sessions[0]
            one.end()
        assert not last.is_active
        assert counts(last) == (sum(1 for _ in session.trace()), 0)
        assert last.counts.buffered == 0
        assert last.counts.bytes == sum(
            one.stat().st_size
            for one in (tmp_path / "t").rglob("*")
            if one.is_file()
            and one.suffix != ".idx"
            and one.name not in {"metadata", ".arena"}
        )
        by_name = {one.name: one.counts.events for one in last.channels}
        statistics = session.statistics()
        assert by_name == {name: one.events for name, one in statistics.items()}


def test_losses_are_told_at_once_and_only_once(
    home: SessionDaemon, program: Path, tmp_path: Path
):
    """Also those that no packet tells yet; another start counts none again."""
    with vestige.Session("s", output=tmp_path / "t") as session:
        channel = session.add_channel("ch", subbuf_size="4k", num_subbuf=2)
        channel.enable_event(STEP)
        session.start()
        watch = Watch(session.client)
        with ordered(home, program) as one:
            wait_for_listed(home, one)
            begun = seen(watch, lambda look: look.sessions[0].counts.is_exact)
            first = begun.sessions[0].counts.events
            emitted = 0
            lost = 0
            while not lost:
                one.do("500000")
                emitted += 500000
                lost = watch.look().sessions[0].counts.discarded_events
            look = seen(watch, lambda look: look.sessions[0].counts.is_exact)
            assert counts(look.sessions[0]) == (first + emitted - lost, lost)
            assert session.stop().discarded == lost
            session.start()
            one.do("1")
            assert session.stop().discarded == 0
            last = watch.look().sessions[0]
            one.end()
        assert last.counts.discarded_events == lost
        assert session.statistics()["ch"].discarded == lost


def test_rates_are_those_since_the_last_look(
    home: SessionDaemon, program: Path, tmp_path: Path
):
    """The first look has none."""
    with vestige.Session("s", output=tmp_path / "t") as session:
        session.add_channel("ch").enable_event(STEP)
        session.start()
        with ordered(home, program) as one:
            wait_for_listed(home, one)
            one.do("1000")
            watch = Watch(session.client)
            first = watch.look()
            assert first.seconds is None
            assert first.sessions[0].counts.events_per_second is None
            seen(watch, lambda look: look.sessions[0].counts.is_exact)
            one.do("4000")
            look = watch.look()
            now = look.sessions[0].counts
            assert now.bytes_per_second is not None
            assert look.seconds is not None
            # As many as 4000 records have at least, be they in files or in memory.
            assert now.bytes_per_second * look.seconds > 4000 * 8
            one.end()


@pytest.mark.usefixtures("home")
def test_a_session_without_output_has_counts_without_events():
    """Nobody can count them, and there are none."""
    with vestige.Session("s", has_output=False) as session:
        session.add_channel("ch")
        look = Watch(session.client).look()
        (found,) = look.sessions
        assert (found.name, found.is_active, found.output) == ("s", False, None)
        assert counts(found) == (0, 0)
        assert look.only("s").sessions == [found]
        assert look.only("other").sessions == []
