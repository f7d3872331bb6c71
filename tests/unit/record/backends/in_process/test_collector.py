"""The collector as Python has it; the tests of its crate play the programs."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from vestige.record._collector import Collector, recover

UUID = bytes(range(16))
KILLED = """
import os, signal, sys
from vestige.record._collector import Collector
collector = Collector(sys.argv[1], bytes(16), shared_memory=sys.argv[2])
collector.start()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Make a directory with metadata."""
    path = tmp_path / "trace"
    path.mkdir(mode=0o700)
    (path / "metadata").write_text("/* CTF 1.8 */\n")
    return path


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """Make a folder in which arenas are seen to come and go."""
    path = tmp_path / "memory"
    path.mkdir()
    return path


def names(folder: Path) -> list[str]:
    """Return what is in a folder."""
    return sorted(path.name for path in folder.iterdir())


def test_an_arena_is_there_until_the_recording_is_closed(
    trace: Path, memory: Path
) -> None:
    """It is the user's alone, and a line in the trace names it."""
    collector = Collector(trace, UUID, shared_memory=memory, rules=b"rules")
    collector.start()

    arena = Path(collector.arena_path)
    found = arena.stat()
    [line] = (trace / ".arena").read_text().splitlines()
    outcome = collector.close()

    assert stat.S_IMODE(found.st_mode) == 0o600
    assert collector.arena_fd_info[:2] == (found.st_dev, found.st_ino)
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    user = str(os.getuid())
    assert line.split("\t") == [str(arena), str(found.st_ino), boot, user, "0"]
    assert (outcome.is_drained, outcome.problems, outcome.running) == (True, [], [])
    assert (outcome.streams, outcome.packets, outcome.lost) == (0, 0, 0)
    assert (names(memory), names(trace)) == ([], ["metadata"])


def test_the_arena_tells_what_the_tracer_needs(trace: Path, memory: Path) -> None:
    """At the places that the format has for it."""
    collector = Collector(
        trace, UUID, shared_memory=memory, fingerprint=77, rules=b"rules", wait_ns=5
    )
    data = Path(collector.arena_path).read_bytes()
    rules = int.from_bytes(data[56:64], sys.byteorder)

    assert data[:8] == b"VESTARN1"
    assert int.from_bytes(data[8:16], sys.byteorder) == 77
    assert data[16:32] == UUID
    assert data[rules : rules + 5] == b"rules"
    assert int.from_bytes(data[120:128], sys.byteorder) == 5
    collector.close()


def test_without_shared_memory_the_arena_is_in_the_trace(trace: Path) -> None:
    """Such as in a container without any."""
    collector = Collector(trace, UUID, shared_memory=trace / "none")

    assert Path(collector.arena_path) == trace / ".arena-data"
    collector.close()
    assert names(trace) == ["metadata"]


def test_nothing_was_recorded_at_first(trace: Path, memory: Path) -> None:
    """But there is memory for those who begin."""
    collector = Collector(trace, UUID, shared_memory=memory)
    collector.start()
    progress = collector.progress()

    assert progress.chunks >= progress.free_chunks > 0
    assert (progress.bytes, progress.packets, progress.lost, progress.streams) == (
        0,
    ) * 4
    assert (progress.live, progress.is_full, progress.is_damaged) == (0, False, False)
    assert progress.failure is None
    assert collector.live_slots() == []
    collector.close()


def test_errors_name_their_file(tmp_path: Path, memory: Path) -> None:
    """With the number of the system."""
    missing = tmp_path / "missing"
    with pytest.raises(FileNotFoundError) as caught:
        Collector(missing, UUID, shared_memory=memory)

    assert caught.value.filename == str(missing)
    assert names(memory) == []


def test_a_directory_that_others_can_write_to_is_refused(
    trace: Path, memory: Path
) -> None:
    """They could put links there."""
    trace.chmod(0o777)
    with pytest.raises(PermissionError) as caught:
        Collector(trace, UUID, shared_memory=memory)

    assert (caught.value.errno, caught.value.filename) == (errno.EPERM, str(trace))


@pytest.mark.parametrize(
    "sizes",
    [{"chunk_bytes": 100}, {"ring": 65}, {"ring": 0}, {"slots": 0}, {"arena_size": 0}],
)
def test_sizes_that_no_arena_has(
    sizes: dict[str, int], trace: Path, memory: Path
) -> None:
    """Nothing stays behind."""
    with pytest.raises(ValueError, match="no arena has such sizes"):
        Collector(trace, UUID, shared_memory=memory, **sizes)

    assert (names(memory), names(trace)) == ([], ["metadata"])


def test_a_collector_starts_once(trace: Path, memory: Path) -> None:
    """Neither twice nor after its end."""
    collector = Collector(trace, UUID, shared_memory=memory)
    collector.start()

    with pytest.raises(OSError, match="started before"):
        collector.start()
    collector.close()
    with pytest.raises(OSError, match="started before"):
        collector.start()


def test_closing_twice_tells_the_same(trace: Path, memory: Path) -> None:
    """Whoever cleans up need not know what was done."""
    collector = Collector(trace, UUID, shared_memory=memory)
    first, second = collector.close(), collector.close(float("nan"))

    assert first.is_drained
    assert second.is_drained
    assert second.problems == []


def test_an_arena_is_recovered_after_a_kill(trace: Path, memory: Path) -> None:
    """It goes away, and its line."""
    command = [sys.executable, "-c", KILLED, str(trace), str(memory)]
    done = subprocess.run(command, check=False)
    assert done.returncode == -signal.SIGKILL
    [arena] = (one for one in memory.iterdir() if not one.suffix)
    assert names(trace) == [".arena", "metadata"]

    outcome = recover(trace, arena)

    assert outcome.is_drained
    assert (names(memory), names(trace)) == ([], ["metadata"])


def test_an_arena_in_use_is_not_recovered(trace: Path, memory: Path) -> None:
    """Its collector goes on."""
    collector = Collector(trace, UUID, shared_memory=memory)
    with pytest.raises(BlockingIOError) as caught:
        recover(trace, collector.arena_path)

    assert caught.value.filename == collector.arena_path
    assert collector.close().is_drained


def test_recording_does_not_load_the_core() -> None:
    """The collector is small, the core is not."""
    program = "import sys, vestige.record._collector as c; print('vestige._core' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout == "False\n"
