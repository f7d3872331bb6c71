"""Recordings that end by themselves: of programs, and of the machine alone."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

import vestige
from support.kernel_tracer import why_not
from support.relay_receiver import relay_receiver
from vestige.cli.main import main

REASON = why_not()
of_kernel = pytest.mark.skipif(REASON is not None, reason=f"no kernel tracer: {REASON}")
FOR_EVER = ("sleep", "100000")
RECORD = (sys.executable, "-m", "vestige", "record")


def test_a_program_is_asked_to_end(tmp_path):
    """Python tells by what it ended; the trace is complete."""
    recording = vestige.record(FOR_EVER, tmp_path / "trace", duration=0.05)

    assert recording.status == 128 + signal.SIGTERM
    assert recording.seconds >= 0.05
    assert recording.collected.is_drained
    assert len(vestige.open(recording, debug_info=False)) > 0


def test_its_end_is_no_failure_on_the_command_line(tmp_path):
    """It was asked for."""
    words = ["-o", str(tmp_path / "trace"), "--duration=50ms", *FOR_EVER]

    assert main(["record", *words]) == 0


def test_a_program_that_ends_before_has_its_own_status(tmp_path):
    """Nobody waits for the time."""
    words = ["-o", str(tmp_path / "trace"), "--duration=1h", "sh", "-c", "exit 3"]

    assert main(["record", *words]) == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "required: PROGRAM (or --kernel, for the machine alone)"),
        (["--duration=1s"], "required: PROGRAM (or --kernel"),
        (["--kernel=sched", "--patch"], "without PROGRAM: expected no --patch"),
        (["--kernel=sched", "-e", "a:*"], "without PROGRAM: expected no --event"),
        (["--kernel=sched", "--kernel-of=program"], "expected no --kernel-of"),
        (["--duration=1000h", "true"], "--duration: 3.6e+06 s: expected up to"),
        (["--duration=0s", "true"], "--duration: 0s: expected a time above 0"),
        (["--kernel=sched", "--duration=0s"], "--duration: 0s: expected a time"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path, capsys, words, said):
    """Before anything is made."""
    output = tmp_path / "trace"
    try:
        status = main(["record", "-o", str(output), *words])
    except SystemExit as error:
        status = error.code

    assert status == 2
    assert said in capsys.readouterr().err
    assert not output.exists()


@of_kernel
def test_the_machine_is_recorded_without_a_program(tmp_path, capfd):
    """For a time; there is no trace of any program."""
    trace = tmp_path / "trace"

    assert main(["record", "-o", str(trace), "--kernel=sched", "--duration=50ms"]) == 0

    begin, end, *more = capfd.readouterr().err.splitlines()
    # Who starts the tests may ignore Ctrl-C.
    assert begin.startswith("vestige: recording the kernel; ")
    assert begin.endswith(" or 0.05 s ends it")
    assert end.startswith("vestige: recorded the kernel for 0.")
    assert f"vestige: trace in {trace}" in more
    names = {one.name for one in vestige.open(trace, debug_info=False)}
    assert "sched_switch" in names
    assert not any(one.startswith("lttng_ust_") for one in names)


@of_kernel
def test_the_machine_is_sent_to_a_relay(capfd):
    """As it is recorded here; of programs there is nothing to tell."""
    with relay_receiver() as relay:
        url = f"net://127.0.0.1:{relay.control_port}:{relay.data_port}"
        assert main(["record", "--to", url, "--kernel=sched", "--duration=50ms"]) == 0
        [session] = relay.sessions
        paths = {one.path for one in session.streams.values()}

    begin, held, place = capfd.readouterr().err.splitlines()
    assert begin.endswith(" or 0.05 s ends it")
    assert held.startswith("vestige: recorded the kernel for 0.")
    assert place == f"vestige: trace in {session.host}/kernel/0 at {url}"
    assert any("kernel" in one for one in paths)


@of_kernel
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_machine_is_recorded_until_a_signal(tmp_path, number):
    """One that comes to the recorder alone, too."""
    command = [*RECORD, "-o", tmp_path / "trace", "--kernel=sched_switch"]
    # Who starts the tests may ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    finally:
        signal.signal(signal.SIGINT, before)
    with process:
        assert process.stderr is not None
        assert (
            process.stderr.readline()
            == "vestige: recording the kernel; Ctrl-C ends it\n"
        )
        process.send_signal(number)
        said = process.stderr.read()

    assert process.returncode == 0, said
    assert said.startswith("vestige: recorded the kernel for ")


@of_kernel
def test_nothing_of_the_kernel_is_an_error_without_a_program(tmp_path, capsys):
    """Nobody waits for what will never come."""
    trace = tmp_path / "trace"

    assert main(["record", "-o", str(trace), "--kernel=no_such_event"]) == 125

    assert "this kernel has no event no_such_event" in capsys.readouterr().err
    assert not trace.exists()


@of_kernel
def test_what_stands_in_for_a_program_may_not_be_there(tmp_path, capsys, monkeypatch):
    """It is named; nothing is left, nor of directories that were made."""
    monkeypatch.setenv("PATH", str(tmp_path))
    words = ["-o", str(tmp_path / "new" / "trace"), "--kernel=sched", "--duration=1h"]

    assert main(["record", *words]) == 127
    assert "cat: cannot be started: No such file" in capsys.readouterr().err
    assert [*tmp_path.iterdir()] == []
