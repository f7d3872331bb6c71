"""The verbs of whole sessions say and return what LTTng's do."""

from __future__ import annotations

import re

import pytest

from vestige.daemon.client import Client
from vestige.errors import SessionError


def test_a_session_lives_from_create_to_destroy(daemon):
    """Each verb says what it did, and the current session follows."""
    made = daemon.lttng("create", "s1")
    place = daemon.home / "lttng-traces"
    assert made.status == 0
    assert re.fullmatch(
        f"Session s1 created.\nTraces will be output to {place}/s1-[0-9]{{8}}-[0-9]{{6}}\n",
        made.out,
    )
    assert (daemon.home / ".lttngrc").read_text() == "session=s1\n"
    assert daemon.lttng("enable-event", "-u", "my_app:*").status == 0
    assert daemon.lttng("start").out == "Tracing started for session s1\n"
    assert "Recording session s1: [active]" in daemon.lttng("status").out
    assert (
        daemon.lttng("stop").out
        == "Waiting for data availability\nTracing stopped for session s1\n"
    )
    assert daemon.lttng("destroy").out == "Session s1 destroyed\n"
    assert not (daemon.home / ".lttngrc").exists()


def test_a_session_without_name_is_named_by_its_time(daemon):
    """The directory does not repeat the date."""
    out = daemon.lttng("create").out
    name = re.match(r"Session (auto-\d{8}-\d{6}) created", out)[1]
    assert out.endswith(f"lttng-traces/{name}\n")


def test_starting_and_stopping_twice_has_its_statuses(daemon):
    """A second start is a warning with status 80, a second stop one with 81."""
    daemon.lttng("create", "s1")
    assert daemon.lttng("start") == (72, "", "Error: No channel found in the session\n")
    daemon.lttng("enable-channel", "-u", "c")
    daemon.lttng("start")
    again = daemon.lttng("start")
    assert again == (80, "", "Warning: Tracing already started for session s1\n")
    daemon.lttng("stop")
    assert daemon.lttng("stop").status == 81


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        (("create", "s1"), 1, "Error: Session name already exists"),
        (("create", "a/b"), 1, "Error: Invalid character found in session name"),
        (("create", "."), 1, "Error: Invalid character found in session name"),
        (("create", ".."), 1, "Error: Invalid character found in session name"),
        (("create", "auto"), 1, "auto is a reserved keyword"),
        (("create", "--bogus"), 2, "Unrecognized argument used with 'create' command"),
        (("create", "n", "-C", "tcp://h"), 1, "Both control and data URLs"),
        (("create", "n", "--live=0"), 1, "must be greater than zero"),
        (("create", "n", "--live=x"), 1, "Wrong value for --live parameter: x"),
        (("create", "n", "--live=4294967296"), 1, "32-bit overflow in --live"),
        (("create", "n", "--live", "-o", "/x"), 1, "Unsupported output type"),
        (("create", "n", "--live", "-U", "file:///x"), 1, "Unsupported output type"),
        (("create", "n", "--live=5", "--snapshot"), 1, "mutually exclusive"),
        (("destroy", "nosuch"), 23, "Session name nosuch not found"),
        (("start", "nosuch"), 23, "Session name not found"),
        (("stop", "nosuch"), 23, "Session name not found"),
        (("list", "nosuch"), 1, "Session 'nosuch' not found"),
        (("set-session", "nosuch"), 1, "Session 'nosuch' not found"),
        (("set-session",), 1, "Missing session name"),
        (("regenerate", "metadata"), 118, "Session not started"),
        (("regenerate",), 1, "No object specified for regenerate command."),
        (("regenerate", "x"), 2, "Unrecognized argument used with 'regenerate'"),
        (("view", "nosuch"), 1, "Session name nosuch not found"),
        (("-m", "yaml", "list"), 165, "MI output format not supported"),
        (("-m", "yaml"), 165, "MI output format not supported"),
        (("--bogus", "list"), 1, "unrecognized option '--bogus'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_a_mistake_is_said_and_has_its_status(daemon, words, status, text):
    """Errors go to standard error, with the numbers of LTTng."""
    daemon.lttng("create", "s1")
    done = daemon.lttng(*words)
    assert (done.status, done.out) == (status, "")
    assert text in done.err
    assert done.err.count("\n") == 1


def test_a_live_session_is_listed_as_one(daemon):
    """The relay daemon is asked when there is something to send."""
    url = "--set-url=net://127.0.0.1:7001:7002"
    made = daemon.lttng("create", "l1", "--live=20ms", url)
    assert made.out == (
        "Live session l1 created.\n"
        "Traces will be output to tcp4://127.0.0.1:7001/ [data: 7002]\n"
        "Live timer interval set to 20000 us\n"
    )
    assert "    Live timer interval: 20000 us\n" in daemon.lttng("list").out
    mi = daemon.lttng("--mi", "xml", "list").out
    assert "<live_timer_interval>20000</live_timer_interval>" in mi
    daemon.lttng("destroy", "l1")


@pytest.mark.parametrize("end", ["\n", "\r"])
def test_a_name_of_several_lines_is_refused(daemon, end):
    """A file has the name of the current session in a line of its own."""
    done = daemon.lttng("create", f"a{end}b")
    text = "Error: Invalid character found in session name\n"
    assert done == (1, "", text)
    assert not (daemon.home / ".lttngrc").exists()


def test_a_current_session_that_cannot_be_noted_is_an_error(daemon):
    """It names the file, and leaves no other one."""
    path = daemon.home / ".lttngrc"
    path.mkdir()
    done = daemon.lttng("create", "s1")
    path.rmdir()
    assert (done.status, done.err) == (1, f"Error: {path}: Is a directory\n")
    assert not [*daemon.home.glob(".lttngrc.*")]


def test_an_unknown_verb_is_told_on_standard_output(daemon):
    """As LTTng does it."""
    done = daemon.lttng("nosuch")
    text = "lttng: nosuch is not an lttng command. See 'lttng --help'.\n"
    assert done == (2, text, "")


def test_without_a_verb_programs_are_told_nothing(daemon):
    """People get the list of verbs, as of LTTng."""
    assert daemon.lttng("--mi", "xml") == (1, "", "")
    assert daemon.lttng("-q") == (1, "", "")
    done = daemon.lttng()
    assert (done.status, done.err) == (1, "")
    assert "enable-event" in done.out


def test_without_a_current_session_both_streams_say_so(daemon):
    """A question on standard output, the error on standard error."""
    done = daemon.lttng("start")
    assert done.status == 1
    assert done.out == "Did you create a session? (lttng create <my_session>)\n"
    path = daemon.home / ".lttngrc"
    assert done.err == f"Error: Can't find valid lttng config {path}\n"


def test_the_output_can_be_chosen_or_be_none(daemon, tmp_path):
    """By a directory or a file URL; --no-output writes nothing."""
    for option in (f"--output={tmp_path}", f"--set-url=file://{tmp_path}"):
        out = daemon.lttng("create", "s", option).out
        assert out == f"Session s created.\nTraces will be output to {tmp_path}\n"
        daemon.lttng("destroy")
    assert daemon.lttng("create", "s", "--no-output").out == "Session s created.\n"


def test_sessions_are_listed_newest_first(daemon):
    """With their numbers, their state and where they write."""
    assert daemon.lttng("list").out == "Currently no available recording session\n"
    for name in ("a", "b"):
        daemon.lttng("create", name, f"--output=/tmp/{name}")
    assert daemon.lttng("list").out == (
        "Available recording sessions:\n"
        "  1) b [inactive]\n    Trace output: /tmp/b\n\n"
        "  2) a [inactive]\n    Trace output: /tmp/a\n\n\n"
        "Use lttng list <session_name> for more details\n"
    )


def test_an_output_that_cannot_be_made_is_an_error(daemon, tmp_path):
    """And the session stays inactive."""
    (tmp_path / "file").touch()
    daemon.lttng("create", "s", f"--output={tmp_path}/file/below")
    daemon.lttng("enable-channel", "-u", "c")
    done = daemon.lttng("start")
    assert (done.status, done.err) == (
        17,
        f"Error: Create directory failed: {tmp_path}/file/below/ust: Not a directory\n",
    )
    assert "[inactive]" in daemon.lttng("list", "s").out


@pytest.mark.parametrize("what", ["output", "shm_path"])
def test_the_daemon_takes_no_path_that_depends_on_where_it_runs(daemon, what):
    """Commands make them absolute; others can ask, too."""
    client = Client.connect(folder=str(daemon.run_folder))
    with pytest.raises(SessionError, match="'below': expected an absolute path"):
        client.ask("create", name="s", home="/tmp", **{what: "below"})
    client.close()
    assert daemon.lttng("list").out == "Currently no available recording session\n"


def test_buffers_are_put_elsewhere_before_a_session_starts(daemon):
    """As clients of the control library ask, which say so after they have created it."""
    client = Client.connect(folder=str(daemon.run_folder))
    client.create("s1", no_output=True)
    client.create(None, no_output=True)
    [auto, _] = client.sessions()
    for name in ("s1", auto["name"]):
        client.ask("set-shm-path", session=name, shm_path="/tmp/rings")

    shown = client.describe("s1")["shm_path"]
    assert re.fullmatch(r"/tmp/rings/s1-[0-9]{8}-[0-9]{6}", shown)
    assert client.describe(auto["name"])["shm_path"] == f"/tmp/rings/{auto['name']}"
    with pytest.raises(SessionError) as raised:
        client.ask("set-shm-path", session="s1", shm_path="rings")
    assert raised.value.name == "INVALID"
    client.close()
