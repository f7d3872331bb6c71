"""The script that runs the CTF test suite, on tiny suites of its own."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "tools" / "ctf_testsuite.py"
GOOD = "/* CTF 1.8 */\ntrace { major = 1; minor = 8; byte_order = le; };\n"
BAD = "/* CTF 1.8 */\ntrace { major = 1;\n  minor = ; };\n"
STRESS = """\
import pathlib, sys
folder = pathlib.Path(f"trace-{sys.argv[2]}")
folder.mkdir()
folder.joinpath("metadata").write_text("x" * int(sys.argv[2]))
"""


@pytest.fixture(scope="module")
def script():
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("ctf_testsuite", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture
def checkout(tmp_path):
    """A suite with a case of each category."""
    regression = tmp_path / "tests" / "1.8" / "regression"
    for name, text in {
        "metadata/pass/good": GOOD,
        "metadata/fail/bad": BAD,
        "stream/pass/good": GOOD,
        "stream/fail/bad": BAD,
    }.items():
        case = regression / name
        case.mkdir(parents=True)
        (case / "metadata").write_text(text)
    (regression / "metadata" / "pass" / "run.sh").touch()
    return tmp_path


def reader(text):
    """Return the option for a reader that is a Python program."""
    return ["--reader", f"{sys.executable} -c '{text}'"]


def test_vestige_gives_the_expected_verdicts(script, checkout, capsys):
    """The default reader is the one of this repository."""
    assert script.main([str(checkout), "--verbose"]) == 0
    output = capsys.readouterr().out.splitlines()
    assert output[-1] == "4/4"
    assert "metadata/pass: 1/1" in output
    [bad] = [line for line in output if "metadata/fail/bad: " in line]
    assert "as expected, exit status 1: vestige: error: " in bad
    assert "line 3: " in bad


def test_a_reader_that_accepts_everything(script, checkout, capsys):
    """Each unexpected verdict is told by name, and the exit status is 1."""
    assert script.main([str(checkout), *reader("pass")]) == 1
    output = capsys.readouterr().out
    assert "stream/fail/bad: UNEXPECTED, exit status 0: no message" in output
    assert output.splitlines()[-1] == "2/4"


def test_a_refusal_needs_a_message_and_exit_status_1(script, checkout, capsys):
    """A crash is no refusal, and nor is silence."""
    for program in ("raise SystemExit(1)", "import os; os.abort()"):
        assert script.main([str(checkout), *reader(program)]) == 1
        assert capsys.readouterr().out.splitlines()[-1] == "0/4"


def test_a_reader_that_does_not_end_is_stopped(script, checkout, capsys):
    """It counts as an unexpected verdict."""
    sleeper = reader("import time; time.sleep(60)")
    assert script.main([str(checkout), *sleeper, "--timeout", "0.2"]) == 1
    output = capsys.readouterr().out
    assert "metadata/pass/good: UNEXPECTED, took more than 0." in output


def test_exceptions_are_named_and_do_not_count(script, checkout, capsys, monkeypatch):
    """Each comes with the paragraph that it contradicts."""
    table = {"metadata/fail/bad": "section 7", "stream/fail/bad": "section 5"}
    monkeypatch.setattr(script, "EXCEPTIONS", table)
    assert script.main([str(checkout), *reader("pass")]) == 0
    assert "metadata/fail/bad: exception, section 7; " in capsys.readouterr().out


def test_stress_cases_are_generated_and_measured(
    script, checkout, capsys, monkeypatch, tmp_path
):
    """The script of the case makes the trace; the reader has limited memory."""
    case = checkout / "tests" / "1.8" / "stress" / "stream" / "pass" / "large"
    case.mkdir(parents=True)
    (case / "test.py").write_text(STRESS)
    monkeypatch.setattr(script, "STRESS", {"stream/pass/large": (10, 20)})
    size = tmp_path / "reader.py"
    size.write_text("import pathlib, sys; pathlib.Path(sys.argv[1], 'metadata').stat()")
    command = ["--reader", f"{sys.executable} {size}"]
    assert script.main([str(checkout), *command, "--stress"]) == 0
    output = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in output] == [
        ["stream/pass/large", "10:"],
        ["stream/pass/large", "20:"],
        ["2/2"],
    ]
    greedy = reader("bytes(1 << 30)")
    options = ["--stress", "large", "--size", "5", "--memory", "512"]
    assert script.main([str(checkout), *greedy, *options]) == 1
    assert "MemoryError" not in capsys.readouterr().out.splitlines()[-1]


def test_a_folder_that_is_no_checkout(script, tmp_path, capsys):
    """It is said at once."""
    assert script.main([str(tmp_path)]) == 2
    assert "no tests/1.8/regression in it" in capsys.readouterr().err
