"""Sessions of Python programs are those of the daemon."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import vestige
from support.session_daemon import is_running
from support.waiting import wait_until
from vestige.control import ChannelStatistics, RecordingEventRule

SECONDS = 60.0


def test_it_is_what_the_commands_see(home, tmp_path):
    """Channels, rules, contexts, processes; it is gone after its context."""
    with vestige.Session("s", output=tmp_path / "t") as session:
        assert is_running(home.pid)
        channel = session.add_channel("ch", subbuf_size="5k", num_subbuf=3)
        assert (channel.subbuf_size, channel.num_subbuf) == (8192, 4)
        channel.enable_event("a:*", filter="n > 1", level="INFO", exclude=["a:b"])
        channel.enable_event("c:d", only_level=3)
        channel.add_context("vpid", "procname")
        session.track(vpid=[12, 13], vuid="root")
        session.untrack(vpid=12)
        session.start()
        shown = home.lttng("list", "s").out
        assert session.is_active
    assert "Recording session s: [active]" in shown
    assert f"Trace output: {tmp_path}/t\n" in shown
    assert "Sub-buffer size:  8192 bytes" in shown
    assert "a:* (loglevel <= TRACE_INFO (6)) (type: tracepoint) [enabled]" in shown
    assert "c:d (loglevel == TRACE_ERR (3))" in shown
    assert home.lttng("list").out == "Currently no available recording session\n"
    assert session.channels["ch"].name == "ch"


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("given", "made"), [("inf", -1), (-1, -1), ("2ms", 2000), (0, 0)]
)
def test_programs_may_wait_for_ever(given, made):
    """As the command says it, or by a number."""
    with vestige.Session(has_output=False) as session:
        session.add_channel("ch", blocking_timeout=given)
        facts = session.client.describe(session.name)
        assert facts["channels"]["ch"]["attributes"]["blocking_timeout"] == made


@pytest.mark.usefixtures("home")
def test_a_rule_without_a_channel_has_one():
    """That by default, as with the commands."""
    with vestige.Session(has_output=False) as session:
        session.enable_event("a:*")
        session.add_context("vtid")
        assert list(session.channels) == ["channel0"]
        session.channels["channel0"].disable_event("a:*")
        for _ in range(2):
            session.channels["channel0"].disable()
        assert not session.channels["channel0"].is_enabled
        assert session.output is None
        assert session.statistics() == {"channel0": ChannelStatistics(None, 0, 0, 0)}
        with pytest.raises(vestige.VestigeError, match="writes no trace"):
            session.trace()


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("do", "error", "text"),
    [
        (lambda s: s.start(), "NO_CHANNEL", "session 's': No channel found"),
        (lambda s: s.stop(), "TRACE_ALREADY_STOPPED", "already been stopped"),
        (
            lambda s: s.enable_event("a:*", filter="n >"),
            "FILTER_INVAL",
            "Invalid filter bytecode: ",
        ),
        (lambda s: s.add_context("bogus"), "UST_CONTEXT_INVAL", "context 'bogus': "),
        (lambda s: s.track(vuid="no-such-user"), "USER_NOT_FOUND", "vuid no-such-user"),
        (
            lambda s: s.add_channel("a/b"),
            "INVALID_CHANNEL_NAME",
            "session 's': channel 'a/b': Invalid channel name",
        ),
        (lambda _: vestige.Session("s"), "EXIST_SESS", "session 's': Session name al"),
        (lambda _: vestige.Session.find("t"), "SESS_NOT_FOUND", "session 't': Session"),
    ],
)
def test_refusals_have_a_name(do, error, text):
    """And say what was asked."""
    with (
        vestige.Session("s", has_output=False) as session,
        pytest.raises(vestige.SessionError) as raised,
    ):
        do(session)
    assert raised.value.name == error
    assert text in str(raised.value)


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    "do",
    [
        lambda s: s.enable_event("a:*", level="LOUD"),
        lambda s: s.enable_event("a:*", level=1, only_level=1),
        lambda s: s.enable_event("a:*", exclude="a:b"),
        lambda s: s.add_channel("c", subbuf_size="big"),
        lambda s: s.add_channel("c", switch_timer="soon"),
    ],
)
def test_what_is_no_value_is_never_asked(do):
    """It says what was expected."""
    with (
        vestige.Session(has_output=False) as session,
        pytest.raises(vestige.SelectionError, match="expected"),
    ):
        do(session)


def test_sessions_of_others_are_found_and_left(home, tmp_path):
    """Those of commands, and what was kept."""
    assert vestige.sessions() == []
    with vestige.Session("kept", output=tmp_path, keep=True) as session:
        session.enable_event("a:*")
        session.start()
    with vestige.Session.find("kept") as found:
        assert found.is_active
        assert found.output == tmp_path
    home.lttng("create", "other")
    assert [one.name for one in vestige.sessions()] == ["other", "kept"]
    vestige.Session.find("kept").destroy()
    assert "kept" not in home.lttng("list").out


def test_a_channel_says_what_it_records_now(home):
    """Also when somebody else has changed it, or made another session of the name."""
    with vestige.Session("s", has_output=False) as session:
        channel = session.add_channel("ch")
        channel.enable_event("a:*", filter="n > 1", level="INFO", exclude=["a:b"])
        channel.enable_event("c:d", only_level=3)
        home.lttng("disable-event", "-u", "-s", "s", "-c", "ch", "c:d")
        home.lttng("add-context", "-u", "-s", "s", "-t", "vpid")
        session.track(vpid=[3, 4])
        assert channel.rules == (
            RecordingEventRule("a:*", True, filter="n > 1", level=6, exclude=("a:b",)),
            RecordingEventRule("c:d", False, only_level=3),
        )
        assert channel.contexts == ("vpid",)
        assert session.tracked == {"vpid": ("3", "4"), "vuid": None, "vgid": None}
        home.lttng("destroy", "s")
        home.lttng("create", "s", "--no-output")
        with pytest.raises(vestige.VestigeError, match="channel 'ch': the session has"):
            assert channel.is_enabled


def test_a_killed_program_leaves_no_session(home):
    """The daemon ends it, and stays."""
    home.start()
    text = (
        "import os, vestige\n"
        "session = vestige.Session('s', has_output=False)\n"
        "session.enable_event('a:*')\n"
        "session.start()\n"
        "assert [one.name for one in vestige.sessions()] == ['s']\n"
        "os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", text], timeout=SECONDS, check=False)
    assert done.returncode == -signal.SIGKILL
    wait_until(lambda: vestige.sessions() == [], "it is destroyed", SECONDS)
    assert is_running(home.pid)


def test_a_private_session_has_a_daemon_of_its_own(home, tmp_path):
    """Nobody else sees it, and nothing of it is left."""
    with vestige.Session("p", output=tmp_path / "t", private=True) as session:
        place = Path(session.environment["LTTNG_HOME"])
        pid = int((place / ".lttng" / "lttng-sessiond.pid").read_text())
        assert session.environment["VESTIGE_RUNDIR"] == f"{place}/.lttng"
        assert home.pid is None
        assert vestige.sessions() == []
        session.enable_event("a:*")
        session.start()
        session.stop()
        assert session.programs() == []
    assert not is_running(pid)
    assert not place.exists()
    assert session.statistics() == {"channel0": ChannelStatistics(0, 0, 0, 0)}


def test_a_private_daemon_ends_with_a_killed_program():
    """It reads that nobody is there any more."""
    text = (
        "import os, pathlib, vestige\n"
        "session = vestige.Session(has_output=False, private=True)\n"
        "place = session.environment['VESTIGE_RUNDIR']\n"
        "print(place, pathlib.Path(place, 'lttng-sessiond.pid').read_text(), flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", text],
        stdout=subprocess.PIPE,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    place, pid = done.stdout.split()
    wait_until(lambda: not is_running(int(pid)), "the daemon ends", SECONDS)
    left = {one.name for one in Path(place).iterdir()}
    # The lock stays, and what programs look for that begin before the next daemon.
    assert left == {"lttng-sessiond.lck", "vestige-tracer-1", "vestige-wait-1"}
    shutil.rmtree(Path(place).parent)


def test_another_daemon_is_named(home, monkeypatch):
    """Its process ID is in the error."""
    home.start()
    place = home.home / "p"
    place.mkdir()
    (place / ".lttng").symlink_to(home.run_folder)
    monkeypatch.setattr("tempfile.mkdtemp", lambda **_: str(place))
    with pytest.raises(vestige.DaemonRunsError) as raised:
        vestige.Session(private=True)
    assert raised.value.pid == home.pid


@pytest.mark.usefixtures("home")
def test_what_notebooks_show(tmp_path):
    """A table; nothing in it is markup of others."""
    with vestige.Session("<b>", output=tmp_path) as session:
        session.enable_event("a:*")
        assert repr(session) == f"Session('<b>', inactive, {str(tmp_path)!r})"
        shown = session._repr_html_()
        assert "&lt;b&gt;" in shown
        assert "<b>" not in shown
        assert "<th style='text-align:left'>channel channel0</th>" in shown
        assert "a:*" in shown
        assert repr(session.channels["channel0"]) == (
            "Channel('channel0', session='<b>', subbuf_size=524288, num_subbuf=4)"
        )
    assert repr(session).startswith("Session('<b>', closed")


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    "do",
    [
        lambda s: s.start(),
        lambda s: s.enable_event("a:*"),
        lambda s: s.track(vpid=1),
        lambda s: s.programs(),
        lambda s: s.kernel.enable_event("a"),
        lambda s: s.kernel.untrack(pid=1),
        lambda s: s.kernel.tracepoints(),
    ],
)
def test_what_is_closed_says_so(do):
    """It is named, once."""
    with vestige.Session("s", has_output=False) as session:
        pass
    with pytest.raises(vestige.VestigeError) as raised:
        do(session)
    assert str(raised.value).startswith("session 's': ")
    assert str(raised.value).endswith(": the session is closed")
    assert str(raised.value).count("'s'") == 1


def test_importing_vestige_imports_nothing_of_it():
    """It is imported when it is first used."""
    text = (
        "import sys, vestige\n"
        "assert not any(name.startswith(('vestige.control', 'vestige.daemon')) for name in sys.modules)\n"
        "vestige.Session\n"
        "assert 'vestige.control.session' in sys.modules\n"
        "assert not {'asyncio', 'vestige.daemon.server', 'vestige._core'} & {*sys.modules}\n"
    )
    subprocess.run([sys.executable, "-c", text], timeout=SECONDS, check=True)


@pytest.mark.usefixtures("home")
def test_a_forked_process_destroys_nothing(tmp_path):
    """Neither the session nor a private daemon, when it leaves the block."""
    script = """
import os, sys, vestige
for is_private in (False, True):
    with vestige.Session("s", private=is_private, has_output=False) as session:
        if (child := os.fork()) == 0:
            sys.exit(0)
        os.waitpid(child, 0)
        print(session.is_active)
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("False\nFalse\n", "")


def test_chunks_are_archived_and_cleared(home, tmp_path):
    """As with the commands; a schedule is set, changed and unset."""
    with vestige.Session("s", output=tmp_path / "t") as session:
        session.enable_event("a:*")
        with pytest.raises(vestige.SessionError, match="needs to be started once"):
            session.rotate()
        session.start()
        archive = session.rotate()
        assert archive.parent == tmp_path / "t/archives"
        assert (archive / "ust").is_dir()
        session.clear()
        session.set_rotation(timer="10m", size="1G")
        session.set_rotation(timer="20m")
        shown = home.lttng("list", "s").out
        assert "timer period: 1200000000 us\n    size threshold: 1073741824" in shown
        session.set_rotation(timer=0, size=0)
        assert "rotation schedules" not in home.lttng("list", "s").out
        session.stop()
        session.rotate()
        with pytest.raises(vestige.SessionError, match="already rotated once"):
            session.rotate()
        with pytest.raises(vestige.SelectionError, match="expected microseconds"):
            session.set_rotation(timer="soon")
