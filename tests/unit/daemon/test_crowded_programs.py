"""The tracer comes into programs that have little left of what each thread has for good."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from support.compilers import PROGRAMS, run_tool
from support.own_programs import build_ordered, ordered, steps
from support.session_daemon import SECONDS, SessionDaemon
from vestige.inspect.dynamic_linker import static_tls
from vestige.record.backends.in_process.tracer import library_path

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

MOST_BYTES = 288
"""That the tracer may want of each thread for good, with what its alignment may add."""
ONE_BYTES = 64
"""That each library of the crowd wants."""
MOST_LIBRARIES = 500
"""More than any C library has room for."""
ONE = f"""
__thread char room[{ONE_BYTES}] __attribute__((tls_model("initial-exec")));
char *find_room(void) {{ return room; }}
"""


def test_the_tracer_wants_little_of_each_thread():
    """What is not on its way to a record is elsewhere."""
    assert 0 < static_tls(Path(library_path()).read_bytes()[:4096]) <= MOST_BYTES


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of libraries that want memory of each thread."""
    folder = tmp_path_factory.mktemp("crowd")
    source = folder / "one.c"
    source.write_text(ONE)
    run_tool(["gcc", "-shared", "-fPIC", str(source), "-o", str(folder / "0.so")])
    for number in range(1, MOST_LIBRARIES):
        shutil.copy(folder / "0.so", folder / f"{number}.so")
    return folder


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that loads them, and the tracer after that."""
    folder = tmp_path_factory.mktemp("crowded")
    return build_ordered(folder, str(PROGRAMS / "crowded.c"), "-llttng-ust")


def count_fitting(program: Path, crowd: Path, daemon: SessionDaemon) -> int:
    """Return how many libraries the C library has room for, in this program."""
    words = {"CROWD": str(crowd), "CROWD_COUNT": str(MOST_LIBRARIES)}
    done = subprocess.run(
        [program],
        env={**os.environ, **daemon.environment, **words},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if not done.stdout:
        pytest.skip("the C library has room for all of them")
    assert "static TLS" in done.stderr
    return int(done.stdout)


def test_a_program_with_little_room_is_recorded(
    daemon: SessionDaemon, crowded: Path, crowd: Path, tmp_path: Path
):
    """It has as much as the tracer may want; with less, the tracer is not loaded."""
    fitting = count_fitting(crowded, crowd, daemon)
    for words in (
        f"create s --output={tmp_path}",
        "enable-event -u ordered:*",
        "start",
    ):
        assert daemon.lttng(*words.split()).status == 0

    def run(libraries: int) -> str:
        crowding = {"CROWD": str(crowd), "CROWD_COUNT": str(libraries)}
        with ordered(daemon, crowded, preload=False, environment=crowding) as one:
            one.do("100")
            one.do("t50")
            maps = one.maps()
            one.end()
        return maps

    assert "libvestige-tracer" not in run(fitting)
    assert "libvestige-tracer" in run(fitting - -(-MOST_BYTES // ONE_BYTES))
    assert daemon.lttng("stop").status == 0
    assert steps(tmp_path).total() == 200
