"""What a trace of the kernel keeps of the memory of programs."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.kernel_tracer import why_not
from vestige.inspect.build_id import read_build_id
from vestige.record.backends.kernel import process_maps
from vestige.record.backends.kernel.map_events import (
    Began,
    Executed,
    MapEvents,
    Mapped,
    Told,
    open_all,
)
from vestige.record.backends.kernel.process_maps import ProcessMaps, read_processes

REASON = why_not()
needs_rights = pytest.mark.skipif(REASON is not None, reason=f"not root: {REASON}")
PAGE = 4096


class PretendMaps(ProcessMaps):
    """Maps of processes of which a test tells."""

    def __init__(self, *events: Told) -> None:
        super().__init__((), time.monotonic_ns)
        self._told = list(events)

    def tell(self, *events: Told) -> None:
        """Tell more."""
        self._told += events

    def follow(self, *, is_end: bool = False) -> None:
        """Take what the test told."""
        del is_end
        told, self._told = self._told, []
        for one in told:
            self.take(one)


def entries(text: str, kind: str) -> list[list[str]]:
    """Return the words of each entry of some metadata."""
    lines = (line.strip() for line in text.splitlines())
    texts = [line.split('"')[1] for line in lines if line.startswith(f"user_{kind}_")]
    return [one.split(" ") for text in texts for one in text.split(";")]


def mapped(process: int, begin: int, path: bytes, offset: int = 0) -> Mapped:
    """Return that two pages of a file are mapped."""
    return Mapped(5, process, begin, 2 * PAGE, offset, path, b"\xab" * 20)


def test_what_is_mapped_belongs_to_a_process_until_it_executes_a_program() -> None:
    """A child has what its parent had, and a program of its own then."""
    maps = PretendMaps(
        Began(1, 10, 1, 10),
        mapped(10, 0x10000, b"/a b"),
        mapped(10, 0x12000, b"/a b", 0x2000),
        Began(2, 10, 10, 11),
        Began(3, 20, 10, 20),
        Executed(4, 20, 20),
        mapped(20, 0x40000, b"/c"),
    )
    text = maps.name([(11, 0x12), (20, 0x40), (20, 0x10), (99, 1)])
    threads = {(one[0], one[2], one[3]) for one in entries(text, "threads")}
    objects = {tuple(one) for one in entries(text, "objects")}

    build_id = "ab" * 20
    assert threads == {("11", "0", "10"), ("20", "1", "20"), ("20", "2", "20")}
    assert objects == {
        ("0", "10000", "4000", build_id, "/a%20b"),
        ("1", "10000", "4000", build_id, "/a%20b"),
        ("2", "40000", "2000", build_id, "/c"),
    }
    assert maps.name([(11, 0x12), (11, 0x13)]) == ""
    assert maps.text == text


def test_a_file_is_in_memory_from_its_beginning_on() -> None:
    """Where only its code was told of, that is as far away as in the file."""
    maps = PretendMaps(mapped(7, 0x11000, b"/lib", 0x1000), mapped(7, 0x13000, b"/x"))
    objects = entries(maps.name([(7, 0x12)]), "objects")

    assert [(one[1], one[2], one[4]) for one in objects] == [("10000", "3000", "/lib")]


def test_what_is_mapped_after_a_page_was_seen_is_said() -> None:
    """A CPU that is read later tells of what was earlier; nothing is said twice."""
    maps = PretendMaps(Began(1, 10, 1, 10), mapped(10, 0x10000, b"/a"))
    said = [maps.name([(10, 0x10), (10, 0x40)])]
    said.append(maps.name([]))
    maps.tell(mapped(10, 0x40000, b"/b"))
    said.append(maps.name([]))
    maps.tell(Began(6, 10, 10, 11))
    said.append(maps.name([(11, 0x40)]))

    assert [[one[4] for one in entries(text, "objects")] for text in said] == [
        ["/a"],
        [],
        ["/b"],
        [],
    ]
    assert [len(entries(text, "threads")) for text in said] == [1, 0, 0, 1]


def test_threads_that_have_ended_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that makes a thread for each request may run for months."""
    monkeypatch.setattr(process_maps, "_MOST_THREADS", 10)
    first = 1 << 23
    threads = range(first, first + 1000)
    maps = PretendMaps(Began(1, 10, 1, 10), mapped(10, 0x10000, b"/a"))
    maps.name([(first, 0x10)])
    # No process has such IDs (PID_MAX_LIMIT).
    maps.tell(*(Began(2 + one, 10, 10, one) for one in threads))
    maps.tell(*(Began(9 + one, 10, 10, threads[-1]) for one in threads))
    text = maps.name([(one, 0x10) for one in threads])

    named = {int(one[0]) for one in entries(text, "threads")}
    assert {first, threads[-1]} <= named
    assert len(entries(text, "threads")) == len(named) < 50


@needs_rights
def test_processes_that_are_there_are_read() -> None:
    """Of this one, its interpreter is known."""
    maps = ProcessMaps((), time.monotonic_ns)
    maps.learn(read_processes())
    executable = os.path.realpath(sys.executable)
    lines = Path("/proc/self/maps").read_text().splitlines()
    begin = next(int(one.split("-")[0], 16) for one in lines if executable in one)
    text = maps.name([(os.getpid(), begin // PAGE)])

    [[_, base, _, build_id, path]] = entries(text, "objects")
    assert (int(base, 16), path) == (begin, executable)
    with Path(executable).open("rb") as file:
        assert build_id == (read_build_id(file).hex() or "-")
    assert [one[3] for one in entries(text, "threads")] == [str(os.getpid())]


@needs_rights
def test_what_came_after_a_time_waits() -> None:
    """CPUs are read one after the other: an earlier event may come still."""
    files = open_all(sorted(os.sched_getaffinity(0)))
    events = MapEvents(files)
    events.read(None)
    until = time.monotonic_ns()
    subprocess.run(["/bin/true"], check=True)
    early = events.read(until)
    late = events.read(None)
    for file in files:
        os.close(file)

    assert all(one.time <= until for one in early)
    assert any(isinstance(one, Executed) for one in late)
    assert [one.time for one in late] == sorted(one.time for one in late)


@needs_rights
def test_what_had_no_room_is_counted(tmp_path: Path) -> None:
    """The kernel tells of it once there is room again."""
    file = tmp_path / "mapped"
    file.write_bytes(bytes(PAGE))
    cpus = os.sched_getaffinity(0)
    [counter] = open_all([min(cpus)])
    events = MapEvents([counter])
    told = 0
    os.sched_setaffinity(0, {min(cpus)})
    for count in (20_000, 100):
        with file.open("rb") as opened:
            for _ in range(count):
                mmap.mmap(opened.fileno(), PAGE, access=mmap.ACCESS_READ).close()
        path = os.fsencode(file)
        found = events.read(None)
        told += sum(isinstance(one, Mapped) and one.path == path for one in found)
    os.sched_setaffinity(0, cpus)
    os.close(counter)

    assert told < 20_100
    # Others map files, too.
    assert events.lost >= 20_100 - told


def test_memory_without_a_file_is_no_object() -> None:
    """It would cover the libraries beside it."""
    maps = PretendMaps(
        mapped(7, 0x11000, b"/lib", 0x1000),
        mapped(7, 0x14000, b"//anon", 0x14000),
        mapped(7, 0x10000, b"//anon", 0x10000),
    )
    objects = entries(maps.name([(7, 0x12), (7, 0x14)]), "objects")

    assert [one[4] for one in objects] == ["/lib"]


def test_times_are_right_though_others_run_between_two_readings_of_clocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The clock of the trace is a counter, ten of which are a nanosecond here."""
    clock = {"at": 1_000_000, "readings": 0}

    def monotonic() -> int:
        clock["readings"] += 1
        # Of five times in a row, the last one alone is not interrupted.
        clock["at"] += 10 if clock["readings"] % 10 in {9, 0} else 5_000_000
        return clock["at"]

    monkeypatch.setattr(process_maps.time, "monotonic_ns", monotonic)
    maps = ProcessMaps((), lambda: clock["at"] * 10)
    clock["at"] += 1_000_000_000
    executed = clock["at"] - 500_000_000
    maps.take(Executed(executed, 20, 20))
    maps.take(mapped(20, 0x40000, b"/c"))
    [[thread, at, _, _]] = entries(maps.name([(20, 0x40)]), "threads")

    assert thread == "20"
    assert abs(int(at, 16) - executed * 10) < 1_000
