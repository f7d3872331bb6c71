"""All tests are run, each once."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

import run_tests  # noqa: E402 - it is beside the package


def run_by(tests, name):
    """Return which names of a run a file of tests is below."""
    return [] if below(tests.left_out, name) else below(tests.names, name)


def below(names, name):
    """Return the names that a file is below."""
    return [one for one in names if name == one or name.startswith(f"{one}/")]


@pytest.mark.parametrize("is_apart", [False, True])
def test_each_file_of_tests_is_in_one_of_the_runs(is_apart):
    """Those that build servers or open viewers are run by other commands."""
    tests = ROOT / "tests"
    files = [path.relative_to(tests).as_posix() for path in tests.rglob("test_*.py")]
    elsewhere = ("judge/", "viewers/")
    both = run_tests.runs(is_apart=is_apart)
    runs = {
        name: [*run_by(both[0], name), *run_by(both[1], name)]
        for name in files
        if not name.startswith(elsewhere)
    }
    assert len(runs) > 400
    assert {name: run for name, run in runs.items() if len(run) != 1} == {}


def test_the_kernel_is_recorded_in_order():
    """It is one for all, whatever memory they have."""
    tests = ROOT / "tests"
    first, second = run_tests.runs(is_apart=True)
    found = [
        path.relative_to(tests).as_posix()
        for name in run_tests.APART
        for path in (tests / name).rglob("test_*.py")
        if "kernel_tracer" in (text := path.read_text(encoding="utf-8"))
        or "import Tracefs" in text
    ]
    assert len(found) > 5
    assert [name for name in found if not run_by(first, name)] == []
    assert [name for name in found if run_by(second, name)] == []


def test_surroundings_of_their_own_are_empty():
    """And nothing of them is seen outside."""
    if (reason := run_tests.why_not_apart()) is not None:
        pytest.skip(f"may not make name spaces: {reason}")
    with socket.create_server(("127.0.0.1", 0)) as outside:
        code = (
            "import os, socket; print(os.listdir('/dev/shm')); open('/dev/shm/own', 'w'); "
            f"own = socket.create_server({outside.getsockname()}); "
            f"socket.create_connection({outside.getsockname()})"
        )
        words = [*run_tests.SURROUNDINGS, sys.executable, "-c", code]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr
    assert not Path("/dev/shm/own").exists()


def test_what_is_named_is_there():
    """What was renamed would be left out, or run in the other run."""
    tests = ROOT / "tests"
    assert [one for one in run_tests.RECORDING if not (tests / one).is_dir()] == []
    assert [one for one in run_tests.BESIDE if not (tests / one).exists()] == []
    assert [one for one in run_tests.APART if not (tests / one).exists()] == []


@pytest.mark.parametrize(
    ("surroundings", "said"),
    [
        (("sh", "-c", "echo 'not permitted' >&2; exit 1", "sh"), "not permitted"),
        (("sh", "-c", "exit 7", "sh"), "sh: exit status 7"),
        (("no-such-tool",), "No such file or directory: 'no-such-tool'"),
    ],
)
def test_without_surroundings_the_reason_is_told(
    monkeypatch, capfd, surroundings, said
):
    """All tests that record are in order then."""
    seen = []

    def instead(tests, _options, prefix=(), _output=None):
        seen.append((tests, tuple(prefix)))
        return run_tests.subprocess.Popen([sys.executable, "-c", ""])

    monkeypatch.setattr(run_tests, "SURROUNDINGS", surroundings)
    monkeypatch.setattr(run_tests, "pytest", instead)
    monkeypatch.setattr(sys, "argv", ["run_tests.py"])
    assert run_tests.main() == 0
    first, second = run_tests.runs(is_apart=False)
    assert seen == [(second, ()), (first, ())]
    [line, *_] = capfd.readouterr().out.splitlines()
    assert line.startswith("All tests that record are in one run: ")
    assert line.endswith(said)


INTERRUPTED = """
import signal
import subprocess
import sys

import run_tests


class Run(subprocess.Popen):
    def wait(self, timeout=None):
        print("waits", flush=True)
        return super().wait(timeout)


signal.signal(signal.SIGINT, signal.default_int_handler)
run_tests.why_not_apart = lambda: None
run_tests.pytest = lambda *_: Run(["sleep", "100000"])
sys.exit(run_tests.main())
"""


def test_an_interrupt_ends_both():
    """As from a terminal, which sends it to each process of the group."""
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        cwd=ROOT / "tools",
        stdout=subprocess.PIPE,
        text=True,
        process_group=0,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waits\n"
        os.killpg(process.pid, signal.SIGINT)
        said = process.stdout.read()
    assert said.endswith("\nThe second run:\n")
    assert process.returncode != 0
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def test_the_first_status_that_is_not_zero_is_told(monkeypatch, capfd):
    """What the second run printed is shown when both have ended."""

    def instead(_tests, options, _prefix=(), output=None):
        assert options == ["-q"]
        code = "print('said'); raise SystemExit(0)"
        if output is not None:
            code = "print('beside'); raise SystemExit(3)"
        words = [sys.executable, "-c", code]
        return run_tests.subprocess.Popen(words, stdout=output, stderr=output)

    monkeypatch.setattr(run_tests, "pytest", instead)
    monkeypatch.setattr(sys, "argv", ["run_tests.py", "-q"])
    assert run_tests.main() == 3
    out = capfd.readouterr().out
    assert out.splitlines() == ["said", "", "The second run:", "beside"]
