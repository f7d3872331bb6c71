"""Recordings are archived by time and by size while programs go on."""

from __future__ import annotations

import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import vestige
from support.own_programs import STEP, Ordered, build_ordered
from support.recorded import record_command
from support.session_daemon import SECONDS
from support.waiting import wait_until

STAMP = r"\d{8}T\d{6}[+-]\d{4}"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program with a tracepoint."""
    return build_ordered(tmp_path_factory.mktemp("ordered"))


def archives(trace: Path) -> list[Path]:
    """Return the archives of a recording, by their numbers."""
    found = [*(trace / "archives").iterdir()]
    return sorted(found, key=lambda one: int(one.name.rpartition("-")[2]))


def events(trace: Path) -> Counter[str]:
    """Count the events of a trace by name."""
    return Counter(event.name for event in vestige.open(trace))


@contextmanager
def recorded(program: Path, trace: Path, *options: str) -> Iterator[Ordered]:
    """Record the program while it does what it is told."""
    words = record_command(trace, [program], *options)
    with subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        yield Ordered(process)


def has_archive(trace: Path, last: int) -> bool:
    """Tell whether an archive has at least a number."""
    found = (trace / "archives").glob("*")
    return any(int(one.name.rpartition("-")[2]) >= last for one in found)


def wait_for_archives(trace: Path, last: int) -> None:
    """Wait until an archive has at least a number."""
    wait_until(lambda: has_archive(trace, last), "a chunk is archived", SECONDS)


def test_chunks_by_size(program: Path, tmp_path: Path):
    """Each event is in one of them, and each tells what is loaded."""
    trace = tmp_path / "t"
    with recorded(program, trace, "--rotate=200k") as one:
        steps = 10
        for number in range(3):
            # How much of it is in buffers yet, nobody knows.
            while not has_archive(trace, number):
                one.do("20000")
                steps += 20000
        one.do("10")
        one.end()
        assert one.process.stderr is not None
        said = one.process.stderr.read()
    chunks = archives(trace)
    for number, archive in enumerate(chunks):
        assert re.fullmatch(f"{STAMP}-{STAMP}-{number}", archive.name)
    found = [events(one) for one in [*chunks, trace / "present"]]
    assert sum(one[STEP] for one in found) == steps
    loaded = [one["lttng_ust_statedump:bin_info"] for one in found if one[STEP]]
    assert loaded[0] > 2
    assert set(loaded) == {loaded[0]}
    assert f"{len(chunks)} archives in {trace}/archives" in said
    last = f"the last has {sum(found[-1].values()):,} events, "
    assert re.match(rf"vestige: recorded in parts for \d+\.\d+ s, {last}", said)
    assert not [*trace.rglob(".*")]


@pytest.mark.parametrize("option", ["--rotate=1s", "--mode=overwrite"])
def test_what_is_kept_is_apart(program: Path, tmp_path: Path, option: str):
    """Packets of what is loaded have no other events: those are too many to be kept."""
    trace = tmp_path / "t"
    with recorded(program, trace, option) as one:
        one.do("3000")
        one.do("fork")
        one.do("2000")
        one.end()
    kinds: defaultdict[object, set[str]] = defaultdict(set)
    for event in vestige.open(trace):
        packet = (event.thread, event.packet_context["packet_seq_num"])
        kinds[packet].add(event.name.partition(":")[0])
    assert {"ordered"} in kinds.values()
    assert {"lttng_ust_statedump"} in kinds.values()
    assert all(len(one) == 1 for one in kinds.values())


def test_chunks_by_time_of_which_some_are_kept(program: Path, tmp_path: Path):
    """The newest ones."""
    trace = tmp_path / "t"
    with recorded(program, trace, "--rotate=100ms", "--keep=2") as one:
        one.do("10")
        wait_for_archives(trace, 3)
        one.do("20")
        one.end()
    chunks = archives(trace)
    assert len(chunks) == 2
    assert sum(events(one)[STEP] for one in [*chunks, trace / "present"]) <= 20


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--keep=2"], "--keep: expected a number of traces, with --rotate"),
        (["--rotate=soon"], "--rotate=soon: expected a number with k, M or G"),
        (["--rotate=0"], "expected a size such as 1G, or a time such as 5m"),
        (["--rotate=1M", "--max-size=1G"], "--rotate: expected no --max-size"),
        (
            ["--rotate=1M", "--mode=overwrite"],
            "expected another mode than --mode=overwrite",
        ),
    ],
)
def test_what_cannot_be_is_refused(
    program: Path, tmp_path: Path, options: list[str], why: str
):
    """With one line, and nothing is made."""
    words = record_command(tmp_path / "t", [program], *options)
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, timeout=SECONDS
    )
    assert done.returncode == 2
    assert why in done.stderr
    assert not (tmp_path / "t").exists()
