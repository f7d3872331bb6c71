"""What is seen of programs of LTTng-UST while they are recorded is what is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.live_sessions import begin, end
from support.own_programs import Ordered, ordered, wait_for_listed
from support.peers import babeltrace
from support.recipes import Workshop
from support.session_daemon import SECONDS, SessionDaemon
from support.waiting import wait_until
from vestige.control.watching import Counts, Watch
from vestige.daemon.client import Client

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("babeltrace_peer")]


@contextmanager
def watching(daemon: SessionDaemon) -> Iterator[Watch]:
    """Watch what a daemon records."""
    client = Client.connect(folder=str(daemon.run_folder))
    yield Watch(client)
    client.close()


@contextmanager
def running_program(daemon: SessionDaemon, program: Path) -> Iterator[Ordered]:
    """Have a program that is registered."""
    with ordered(daemon, program, preload=False) as one:
        wait_for_listed(daemon, one)
        yield one


def seen(watch: Watch, is_so: Callable[[Counts], bool]) -> Counts:
    """Look until the only session has such counts."""

    def look() -> bool:
        found[:] = [watch.look().sessions[0].counts]
        return is_so(found[0])

    found: list[Counts] = []
    wait_until(look, "it is seen", SECONDS)
    return found[0]


@pytest.mark.parametrize("buffers", ["uid", "pid"])
def test_events_and_losses_are_those_of_the_trace(
    daemon: SessionDaemon, workshop: Workshop, tmp_path: Path, buffers: str
):
    """Some are in buffers: their number is estimated until they are written."""
    begin(
        *(daemon, tmp_path),
        f"enable-channel -u ch --subbuf-size=4k --num-subbuf=2 --buffers-{buffers}",
        "enable-event -u -c ch ordered:step",
    )
    with (
        watching(daemon) as watch,
        running_program(daemon, workshop.program("ordered")) as one,
    ):
        look = watch.look()
        assert look.programs == [
            {
                "pid": one.process.pid,
                "uid": look.sessions[0].uid,
                "name": str(workshop.program("ordered")),
                "tracer": "lttng-ust",
                "sessions": ["s"],
                "recording": None,
            }
        ]
        one.do("3")
        # They are in the first sub-buffer, of which nothing is in a file.
        begun = seen(watch, lambda counts: counts.events is not None)
        assert (begun.events, begun.is_exact) == (3, False)
        assert begun.buffered > 0
        emitted, lost = 3, 0
        while not lost:
            one.do("100000")
            emitted += 100000
            lost = watch.look().sessions[0].counts.discarded_events
        counts = watch.look().sessions[0].counts
        assert 0 < counts.fill <= 1
        assert counts.buffer_size % (2 * 4096) == 0
        assert counts.events is not None
        # What is estimated is in the buffers: all records have the same size.
        assert abs(counts.events - (emitted - lost)) < counts.buffer_size / 8
        if buffers == "pid":
            one.end()
            seen(watch, lambda counts: counts.is_exact)
        end(daemon)
        last = watch.look().sessions[0].counts
    assert last.is_exact
    assert (last.events, last.discarded_events) == (emitted - lost, lost)
    assert last.events == len(babeltrace(tmp_path).stdout.splitlines())
    assert last.bytes == sum(one.stat().st_size for one in tmp_path.rglob("ch_*[0-9]"))
    assert last.buffered == 0


def test_packets_that_are_overwritten_are_counted(
    daemon: SessionDaemon, workshop: Workshop, tmp_path: Path
):
    """As the trace tells them at the end."""
    begin(
        *(daemon, tmp_path),
        "enable-channel -u ch --overwrite --subbuf-size=4k --num-subbuf=2",
        "enable-event -u -c ch ordered:step",
    )
    with (
        watching(daemon) as watch,
        running_program(daemon, workshop.program("ordered")) as one,
    ):
        one.do("500000")
        counts = seen(watch, lambda counts: counts.lost_packets > 0)
        assert counts.discarded_events == 0
        one.end()
        end(daemon)
        last = watch.look().sessions[0].counts
    listed = daemon.lttng("list", "s").out
    assert f"Lost packets: {last.lost_packets}\n" in listed
    assert last.events == len(babeltrace(tmp_path).stdout.splitlines())
