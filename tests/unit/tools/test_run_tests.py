"""All tests are run, each once."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

import run_tests  # noqa: E402 - it is beside the package


def run_by(name):
    """Return which names of the two runs a file of tests is below."""
    beside = below(run_tests.reading(), name)
    is_ignored = bool(below(run_tests.BESIDE, name))
    return [*beside, *([] if is_ignored else below(run_tests.RECORDING, name))]


def below(names, name):
    """Return the names that a file is below."""
    return [one for one in names if name == one or name.startswith(f"{one}/")]


def test_each_file_of_tests_is_in_one_of_the_runs():
    """Those that build servers or open viewers are run by other commands."""
    tests = ROOT / "tests"
    files = [path.relative_to(tests).as_posix() for path in tests.rglob("test_*.py")]
    elsewhere = ("judge/", "viewers/")
    runs = {name: run_by(name) for name in files if not name.startswith(elsewhere)}
    assert len(runs) > 400
    assert {name: run for name, run in runs.items() if len(run) != 1} == {}


def test_what_is_named_is_there():
    """What was renamed would be left out, or run in the other run."""
    tests = ROOT / "tests"
    assert [one for one in run_tests.RECORDING if not (tests / one).is_dir()] == []
    assert [one for one in run_tests.BESIDE if not (tests / one).exists()] == []


def test_the_first_status_that_is_not_zero_is_told(monkeypatch, capfd):
    """What the second run printed is shown when both have ended."""

    def instead(_names, options, output=None):
        assert options[0] == "-q"
        assert (output is None) == any(one.startswith("--ignore") for one in options)
        code = "print('said'); raise SystemExit(0)"
        if output is not None:
            code = "print('beside'); raise SystemExit(3)"
        words = [sys.executable, "-c", code]
        return run_tests.subprocess.Popen(words, stdout=output, stderr=output)

    monkeypatch.setattr(run_tests, "pytest", instead)
    monkeypatch.setattr(sys, "argv", ["run_tests.py", "-q"])
    assert run_tests.main() == 3
    out = capfd.readouterr().out
    assert out.splitlines() == ["said", "", "Tests that do not record:", "beside"]
