"""The command as a whole: verbs, help, exit statuses, signals."""

from __future__ import annotations

import argparse
import array
import fcntl
import os
import signal
import subprocess
import sys
import termios
import time
from contextlib import contextmanager
from importlib.metadata import files
from pathlib import Path

import pytest

import vestige
from support.call_traces import enter, leave, packet, write_calls
from support.recordings import DATA
from vestige.cli.exit_statuses import LIKE_BABELTRACE, PLAIN, READING
from vestige.cli.parser import CommandParser
from vestige.cli.verbs import VERBS, load_commands

VESTIGE = [sys.executable, "-m", "vestige"]
COMMANDS = load_commands([])
DEADLINE = 120


@contextmanager
def started(*words, **streams):
    """Start the command in a process of its own, which ends with the block at the latest."""
    with subprocess.Popen(
        [*VESTIGE, *map(str, words)],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        **streams,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def interruptible():
    """Let children be interrupted; a shell that runs tests in the background forbids it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def wait_for(condition):
    """Wait until a condition holds ten times in a row."""
    end = time.monotonic() + DEADLINE
    in_a_row = 0
    while in_a_row < 10:
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.005)
        in_a_row = in_a_row + 1 if condition() else 0


def sleeps(process):
    """Tell whether a process waits for something."""
    stat = Path(f"/proc/{process.pid}/stat").read_text()
    return stat.rpartition(")")[2].split()[0] == "S"


@pytest.mark.parametrize("words", [(), ("help",), ("--help",), ("-h",)])
def test_the_verbs_are_listed_with_their_summaries(run, words):
    """In their order, and examples too; `vestige` alone is a question, not an error."""
    status, text, errors = run(*words)
    lines = text.splitlines()

    assert (status, errors) == (0, "")
    assert [command.name for command in COMMANDS] == [*VERBS]
    for name, verb in VERBS.items():
        assert f"    {name:12}  {verb.summary}" in lines
    assert "  vestige record -- ./app            run a program and record it" in lines
    assert "\ncommands:\n  COMMAND\n" in text
    assert text.endswith(READING.text)


@pytest.mark.parametrize("command", COMMANDS, ids=VERBS)
def test_the_help_of_a_verb_shows_examples_and_exit_statuses(run, command):
    """At the end, as they were written."""
    status, text, errors = run(command.name, "--help")

    assert (status, errors) == (0, "")
    assert text.startswith(f"usage: vestige {command.name} ")
    assert text.endswith(f"\n\n{command.examples}\n{command.exit_statuses.text}")
    assert command.examples.startswith("examples:\n  ")
    assert f"vestige {command.name}" in command.examples


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb(run, verb):
    """`vestige help VERB` prints what `vestige VERB --help` prints."""
    assert run("help", verb) == run(verb, "--help")


HEAVY = [
    "vestige._core",
    "vestige.graph",
    "vestige.debuginfo",
    "vestige.record.recorder",
]
HEAVY += ["asyncio", "dataclasses", "inspect", "subprocess", "tempfile"]
LOADED = """\
import sys
from vestige.cli.main import main
before = {*sys.modules}
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print(*({*sys.modules} - before), file=sys.stderr)
"""


@pytest.mark.parametrize("words", [[], *([verb, "--help"] for verb in VERBS)], ids=str)
def test_the_help_does_not_wait_for_what_it_does_not_need(words):
    """What reads traces takes longer to import than the help to print."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *words],
        check=True,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )

    assert done.stdout.startswith("usage: vestige ")
    assert set(HEAVY) & set(done.stderr.split()) == set()


def test_the_exit_statuses_in_the_help():
    """The same in each verb that reads traces."""
    for number in (0, 1, 2, 3, 130):
        assert f"\n  {number:<4} " in READING.text
    statuses = {command.name: command.exit_statuses for command in COMMANDS}
    for verb in ("view", "export", "check", "debuginfo", "demo"):
        assert statuses[verb] is READING
    for verb in ("report", "repair"):
        assert statuses[verb].lines.keys() == READING.lines.keys()
    assert statuses["convert"] is LIKE_BABELTRACE
    assert statuses["config"] is PLAIN


@pytest.mark.parametrize("option", ["-V", "--version", "version"])
def test_the_version(run, option):
    """The name and the number."""
    assert run(option) == (0, f"vestige {vestige.__version__}\n", "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["play"], "unknown command 'play'"),
        (["help", "play"], "unknown command 'play'"),
        (["veiw", "path"], "unknown command 'veiw'; did you mean 'view'?"),
        (["--vers"], "unknown option '--vers'; did you mean '--version'?"),
        (["record"], "the following arguments are required: PROGRAM"),
        (["convert"], "the following arguments are required: PATH"),
        (["demo", "path"], "unexpected argument 'path'"),
        (["convert", "--wrong", "path"], "unknown option '--wrong'"),
        (["convert", "-Z", "path"], "unknown option '-Z'"),
        (["convert", "-o", "json", "path"], "invalid choice: 'json'"),
        (["convert", "-i", "json", "path"], "invalid choice: 'json'"),
        (["view", "--color=sometimes", "path"], "invalid choice: 'sometimes'"),
    ],
)
def test_wrong_usage_is_status_2(run, words, message):
    """With one line of what is wrong and one that names the help."""
    status, text, errors = run(*words)
    verb = f" {words[0]}" if words[0] in VERBS and words[0] != "help" else ""

    assert (status, text) == (2, "")
    wrong, advice = errors.splitlines()
    assert wrong.startswith(f"vestige{verb}: error: ")
    assert message in wrong
    assert advice == f"Try 'vestige{verb} --help'."


@pytest.mark.parametrize("command", COMMANDS, ids=VERBS)
def test_no_option_is_abbreviated(run, command):
    """A shorter one is an error that names the whole one; ``lttng`` has LTTng's errors."""
    if command.name == "lttng":
        assert run("lttng", "--hel")[0] == 1
        return
    parser = CommandParser()
    command.configure(parser)
    options = {
        option: action
        for option, action in parser._option_string_actions.items()
        if option.startswith("--") and len(option) > 4
    }
    for option, action in options.items():
        short = option[:-1]
        if short in options:
            continue
        value = [] if action.nargs == 0 else ["1"]
        status, text, errors = run(command.name, short, *value)

        assert (status, text) == (2, "")
        assert f"unknown option '{short}'" in errors
        if action.help != argparse.SUPPRESS:
            assert f"'{option}'" in errors


def test_many_choices_are_named_only_in_part(run):
    """Three of those that the word may stand for."""
    _, _, errors = run("convert", "--clock", "path")

    assert errors.splitlines()[0] == (
        "vestige convert: error: unknown option '--clock'; did you mean "
        "'--clock-cycles', '--clock-date' or '--clock-force-correlate'?"
    )


MISSING = {
    "view": 3,
    "export": 3,
    "report": 3,
    "check": 3,
    "repair": 3,
    "debuginfo": 3,
    "list": 3,
    "convert": 1,
    "symbolize": 1,
}
"""The exit statuses of verbs that read when there is nothing to read."""


def reading(verb, path, tmp_path):
    """Return a command line that reads a path."""
    more = {
        "export": ["--to", "csv"],
        "repair": [tmp_path / "repaired"],
    }
    if verb == "symbolize":
        return [verb, "-e", path, "10"]
    return [verb, path, *more.get(verb, [])]


@pytest.mark.parametrize("verb", MISSING)
def test_a_path_with_nothing_to_read(run, verb, tmp_path):
    """Status 3, or that of the peer; one line, with the path."""
    missing = tmp_path / "missing"

    status, text, errors = run(*reading(verb, missing, tmp_path))

    assert (status, text) == (MISSING[verb], "")
    assert errors.startswith(f"vestige: error: {missing}: ")
    assert len(errors.splitlines()) == 1


@pytest.mark.parametrize("verb", ["convert", "view"])
def test_one_missing_path_among_others(run, verb, tmp_path):
    """It is an error, too."""
    status, text, _ = run(verb, DATA / "hello", tmp_path / "missing")

    assert (status, text) == (MISSING[verb], "")


TRACES = ["view", "export", "report", "check", "repair", "debuginfo", "convert"]
"""Verbs that read traces."""


@pytest.mark.parametrize("verb", TRACES)
def test_a_damaged_trace_is_status_1(run, verb, tmp_path):
    """What is intact was read."""
    trace = damaged(tmp_path / "trace")

    status, text, errors = run(*reading(verb, trace, tmp_path))

    assert status == 1
    if verb == "repair":
        assert "1 cut after its last good event" in text
    else:
        assert "vestige: error: " in errors


@pytest.mark.parametrize("verb", TRACES)
def test_a_trace_whose_metadata_is_damaged(run, verb, tmp_path):
    """Nothing can be read of it: status 3."""
    trace = with_calls(tmp_path / "trace")
    (trace / "metadata").write_bytes(b"no metadata")

    status, _, errors = run(*reading(verb, trace, tmp_path))

    assert status == MISSING[verb]
    assert "vestige: error: " in errors


@pytest.mark.parametrize("verb", TRACES)
def test_an_intact_trace_is_status_0(run, verb, tmp_path):
    """Also when the tracer lost events, where it has any calls."""
    trace = with_calls(tmp_path / "trace") if verb == "report" else DATA / "lost"

    assert run(*reading(verb, trace, tmp_path))[0] == 0


@pytest.mark.parametrize("verb", ["view", "export", "check", "convert"])
def test_strict_reading_of_damage_is_status_1(run, verb, tmp_path):
    """As without --strict."""
    trace = damaged(tmp_path / "trace")

    assert run(*reading(verb, trace, tmp_path), "--strict")[0] == 1


def with_calls(path):
    """Write a trace of two packets with a call each."""
    calls = ([enter(1000, 0x1000), leave(1100)], [enter(2000, 0x1000), leave(2100)])
    return write_calls(path, {"a": [packet(one, vtid=5) for one in calls]})


def damaged(path):
    """Write a trace whose second packet is cut."""
    trace = with_calls(path)
    with (trace / "a").open("r+b") as file:
        file.truncate((trace / "a").stat().st_size - 4)
    return trace


@pytest.mark.parametrize("verb", ["convert", "view", "demo"])
def test_output_that_cannot_be_written(verb):
    """Status 3, or 1 as the peer: one line, and no traceback, also from the last flush of Python."""
    paths = [] if verb == "demo" else [DATA / "hello"]
    with (
        Path("/dev/full").open("w") as full,
        started(verb, *paths, stdout=full) as process,
    ):
        _, errors = process.communicate(timeout=DEADLINE)

    assert errors.endswith("cannot write the output: No space left on device\n")
    assert "Traceback" not in errors
    assert process.returncode == (1 if verb == "convert" else 3)


@pytest.mark.parametrize(
    "words",
    [
        ["\x1b[2J"],
        ["view", "--\x1b[2J"],
        ["symbolize", "-e", "/bin/ls", "\x1b[2J"],
        ["view", "--event", "\x1b[2J", str(DATA / "hello")],
    ],
)
def test_words_of_the_command_line_do_not_steer_the_terminal(words):
    """A script may have got them from others."""
    done = subprocess.run(
        [sys.executable, "-m", "vestige", *words],
        check=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        timeout=DEADLINE,
    )

    assert r"\e[2J" in done.stderr
    assert "\x1b" not in done.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    ("words", "status"), [("--help", 3), ("view --help", 3), ("help view", 1)]
)
def test_help_that_cannot_be_written(words, status, unbuffered):
    """One line and a status, as for all other output."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "vestige", *words.split()],
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            check=False,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=DEADLINE,
        )

    expected = "vestige: error: cannot write the output: No space left on device\n"
    assert (done.returncode, done.stderr) == (status, expected)


@pytest.mark.parametrize(
    ("words", "status", "errors"),
    [
        ("symbolize -e /proc/self/exe 10 >&-", 1, "Bad file descriptor"),
        ("symbolize -e /proc/self/exe <&-", 1, "Bad file descriptor"),
        (f"convert {DATA / 'hello'} >&-", 1, "Bad file descriptor"),
        (f"convert {DATA / 'hello'} <&-", 0, ""),
        ("symbolize -e /nothing 10 2>&-", 1, ""),
    ],
)
def test_a_closed_standard_stream_is_no_traceback(words, status, errors):
    """Python has no object for a stream that was closed before it started."""
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" -m vestige {words}', sys.executable],
        check=False,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )

    assert done.returncode == status
    assert "Traceback" not in done.stderr
    assert errors in done.stderr
    assert errors or done.stderr == ""
    assert "error" not in done.stdout


@pytest.mark.parametrize(
    "words", [["convert"], ["view", "--layout=babeltrace"]], ids=" ".join
)
def test_a_reader_that_goes_away_is_no_error(words):
    """`vestige convert | head -1` leaves neither a traceback nor a message."""
    paths = [DATA / name for name in ("reload", "fields", "threads-pid")]
    with started(*words, *paths, stdout=subprocess.PIPE) as process:
        first = process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()
        status = process.wait(DEADLINE)

    assert first.startswith("[")
    assert (status, errors) == (128 + signal.SIGPIPE, "")


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_is_status_130(tmp_path):
    """Ctrl-C while it waits for a reader of its output: no traceback."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with started(
        "convert", "-w", pipe, DATA / "hello", stdout=subprocess.PIPE
    ) as process:
        wait_for(lambda: sleeps(process))
        process.send_signal(signal.SIGINT)
        text, errors = process.communicate(timeout=DEADLINE)

    assert (process.returncode, text, errors) == (130, "", "")


INTERRUPTING = """
import os, signal, sys
module = None

class Interrupting:
    def find_spec(name, path=None, target=None):
        if name == module:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting)
from vestige.cli.start import entry_point
module, sys.argv[1:] = sys.argv[1], ["view", "--no-pager", sys.argv[2]]
entry_point()
"""


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(
    ("module", "status"),
    [
        ("argparse", -signal.SIGINT),
        ("vestige.cli.parser", -signal.SIGINT),
        ("vestige.components.sources.ctf_fs", 130),
    ],
)
def test_an_interrupt_while_modules_are_imported_has_no_traceback(module, status):
    """Before the command line is read the signal ends it, then the status says so."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTING, module, DATA / "hello"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (status, "", "")


def bytes_waiting(pipe):
    """Return how many bytes nobody has read from a pipe yet."""
    count = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_while_the_reader_sleeps_is_status_130():
    """Ctrl-C when the pipe is full, as behind a stopped pager."""
    paths = [DATA / "lost", DATA / "fields"]
    with started("convert", *paths, stdout=subprocess.PIPE) as process:
        wait_for(lambda: sleeps(process) and bytes_waiting(process.stdout) > 60_000)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130


def installed_command():
    """Return the path of what an installer has put beside Python."""
    [script] = [
        one.locate() for one in files("vestige") or [] if one.match("bin/vestige")
    ]
    return script


def test_the_installed_command_is_the_same():
    """`vestige` and `python -m vestige`."""
    texts = [
        subprocess.run([*words, "--help"], capture_output=True, check=True).stdout
        for words in (VESTIGE, [installed_command()])
    ]

    assert texts[0] == texts[1]
    assert b"record" in texts[0]


def test_the_installed_command_imports_only_what_it_is_for():
    """What installers write for an entry point may import ``re`` first."""
    code = (
        "import sys; before = {*sys.modules}; "
        f"exec(open({str(installed_command())!r}).read(), {{'__name__': 'vestige'}}); "
        "print(*{*sys.modules} - before)"
    )

    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )

    assert "vestige.cli.start" in done.stdout.split()
    assert {"re", "enum"} & {*done.stdout.split()} == set()
