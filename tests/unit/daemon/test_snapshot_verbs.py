"""What `lttng snapshot` says, and what it ends with, as LTTng's does."""

from __future__ import annotations

import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from support.session_daemon import Done, SessionDaemon

NOT_ONE = "Error: Snapshot command can't be applied to a non-snapshot session\n"


def good(daemon: SessionDaemon, *words: str) -> str:
    """Run a session verb that succeeds; return what it says."""
    done = daemon.lttng(*words)
    assert (done.status, done.err) == (0, "")
    return done.out


def answer(done: Done) -> tuple[str, str]:
    """Return what a document of the machine interface has as its output, and success."""
    text = done.out.replace(' xmlns="https://lttng.org/xml/ns/lttng-mi"', "")
    root = ET.fromstring(text.partition("?>")[2])  # noqa: S314 - of our own
    output = root.find("output")
    assert output is not None
    inner = "".join(ET.tostring(one, encoding="unicode") for one in output)
    return inner.replace(" />", "/>"), root.findtext("success") or ""


def test_a_session_of_snapshots_says_what_it_is(daemon: SessionDaemon):
    """When it is created, and in lists; a directory by default has its name."""
    output = "/tmp/out"
    assert good(daemon, "create", "s", "--snapshot", f"--output={output}") == (
        "Snapshot session s created.\n"
        f"Default snapshot output set to {output}\n"
        "Every channel enabled for this session will be set to mmap output and "
        "default to overwrite mode.\n"
    )
    assert "  1) s [inactive snapshot]\n\n" in good(daemon, "list")
    assert good(daemon, "list", "s").startswith(
        "Recording session s: [inactive snapshot]\n"
    )
    shown, _ = answer(daemon.lttng("--mi", "xml", "list"))
    assert "<path/><enabled>false</enabled><snapshot_mode>1</snapshot_mode>" in shown
    good(daemon, "create", "t", "--snapshot")
    home = daemon.home / "lttng-traces"
    assert f"[1] snapshot-1: {home}/t-" in good(daemon, "snapshot", "list-output")


def test_channels_overwrite_unless_they_are_to_discard(daemon: SessionDaemon):
    """And nobody waits for room in a ring that overwrites."""
    good(daemon, "create", "s", "--snapshot", "--no-output")
    good(daemon, "enable-channel", "-u", "a", "--blocking-timeout=1000")
    good(daemon, "enable-channel", "-u", "b", "--discard", "--blocking-timeout=1000")
    shown = good(daemon, "list", "s")
    first, second = (shown.partition("- b:")[one] for one in (0, 2))
    assert "Event-loss mode:  overwrite" in first
    assert "Blocking timeout" not in first
    assert "Event-loss mode:  discard" in second
    assert "Blocking timeout: 1000 us" in second
    assert shown.count("    Statistics:\n      None\n") == 2


def test_outputs_are_added_listed_and_deleted(daemon: SessionDaemon):
    """One at a time, by number or by name."""
    good(daemon, "create", "s", "--snapshot", "--output=/tmp/out")
    listed = "Snapshot output list for session s\n    "
    show = ("snapshot", "list-output")
    assert good(daemon, *show) == f"{listed}[1] snapshot-1: /tmp/out\n"
    more = daemon.lttng("snapshot", "add-output", "/tmp/more")
    assert more == (1, "", "Error: Snapshot output already exists\n")
    deleted = "successfully deleted for session s\n"
    said = good(daemon, "snapshot", "del-output", "1")
    assert said == f"Snapshot output id 1 {deleted}"
    assert good(daemon, *show) == f"{listed}None\n"
    added = good(
        daemon, *["snapshot", "add-output", "-n", "o2", "-m", "8M", "file:///tmp/o2"]
    )
    assert added == (
        "Snapshot output successfully added for session s\n"
        "  [2] o2: file:///tmp/o2 (max size: 8388608 bytes)\n"
    )
    assert good(daemon, *show) == f"{listed}[2] o2: /tmp/o2 (max size: 8388608 bytes)\n"
    said = good(daemon, "snapshot", "del-output", "o2")
    assert said == f"Snapshot output o2 {deleted}"


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        ("", 1, "No action specified for snapshot command."),
        ("bogus", 2, "Unrecognized argument used with 'snapshot' command"),
        ("record", 1, "Session needs to be started once"),
        ("record -s nosuch", 1, "Session name not found"),
        ("record -C tcp://h", 1, "URLs must be specified for both data and control"),
        ("record bad://x", 1, "Unable to parse the URL bad://x"),
        ("record -m bogus", 1, "Unable to handle max-size value bogus"),
        ("add-output", 1, "An output destination must be specified to add a"),
        ("del-output", 1, "A snapshot output name or id must be provided to delete"),
        ("del-output 7", 1, "Invalid parameter"),
        ("del-output nosuch", 1, "Invalid parameter"),
    ],
)
def test_a_mistake_is_said_and_has_its_status(
    daemon: SessionDaemon, words: str, status: int, text: str
):
    """And a document of the machine interface, with `success` false."""
    good(daemon, "create", "s", "--snapshot", "--output=/tmp/out")
    done = daemon.lttng("snapshot", *words.split())
    assert (done.status, done.out) == (status, "")
    assert done.err.startswith(f"Error: {text}")
    assert done.err.count("\n") == 1
    shown = daemon.lttng("--mi", "xml", "snapshot", *words.split())
    assert (shown.status, answer(shown)[1]) == (status, "false")


@pytest.mark.parametrize(
    "words", ["record", "list-output", "add-output /tmp/x", "del-output 1"]
)
def test_other_sessions_have_no_snapshots(daemon: SessionDaemon, words: str):
    """A trace is written of what they record; one without an output can have some."""
    good(daemon, "create", "s", "--output=/tmp/out")
    assert daemon.lttng("snapshot", *words.split()) == (1, "", NOT_ONE)
    good(daemon, "create", "n", "--no-output")
    assert good(daemon, "snapshot", "list-output").endswith("    None\n")


def test_each_output_has_its_place(daemon: SessionDaemon, tmp_path: Path):
    """A path that is given, before that of the session; each snapshot has a number."""
    good(daemon, "create", "s", "--snapshot", f"--output={tmp_path}/own")
    good(daemon, "enable-event", "-u", "-a")
    good(daemon, "start")
    good(daemon, "snapshot", "record", "-n", "first")
    said = good(daemon, "snapshot", "record", f"file://{tmp_path}/given")
    assert said == (
        "Snapshot recorded successfully for session s\n"
        f"Snapshot written at: file://{tmp_path}/given\n"
    )
    # As scripts of LTTng give no path.
    good(daemon, "snapshot", "record", "")
    good(daemon, "stop")
    good(daemon, "snapshot", "record", "-n", "last")
    parts = {
        (one.parent.name, *one.name.rsplit("-", 3)[::3]) for one in tmp_path.glob("*/*")
    }
    assert parts == {
        ("own", "first", "0"),
        ("given", "snapshot-0", "1"),
        ("own", "snapshot-1", "2"),
        ("own", "last", "3"),
    }
    good(daemon, "snapshot", "del-output", "1")
    failed = daemon.lttng("snapshot", "record")
    why = "expected an output of the session, or a path"
    assert failed == (1, "", f"Error: Snapshot record failed: {why}\n")


@pytest.mark.parametrize("name", ["a/b", "x" * 240, ".."])
def test_names_are_names_of_directories(
    daemon: SessionDaemon, tmp_path: Path, name: str
):
    """What would be elsewhere, or is too long, is refused."""
    good(daemon, "create", "s", "--snapshot", f"--output={tmp_path}/own")
    good(daemon, "enable-event", "-u", "-a")
    good(daemon, "start")
    done = daemon.lttng("snapshot", "record", "-n", name)
    if name == "..":
        assert done.status == 0
        assert [one.name[:3] for one in (tmp_path / "own").iterdir()] == ["..-"]
    else:
        why = f"'{name}': expected a file's name"
        assert done == (1, "", f"Error: Create directory failed: {why}\n")
        assert [*tmp_path.iterdir()] == []


def test_the_machine_interface_tells_outputs(daemon: SessionDaemon, tmp_path: Path):
    """As LTTng 2.13 prints them."""
    good(daemon, "create", "s", "--snapshot", "--no-output")
    good(daemon, "enable-event", "-u", "-a")
    good(daemon, "start")
    for words, inner in (
        (
            f"add-output -n o5 file://{tmp_path}",
            (
                f"<id>1</id><name>o5</name><ctrl_url>file://{tmp_path}</ctrl_url>"
                "<session_name>s</session_name>"
                "<max_size>18446744073709551615</max_size>"
            ),
        ),
        ("record", ""),
        (f"record {tmp_path}", f"<ctrl_url>{tmp_path}</ctrl_url>"),
        ("del-output 1", "<id>1</id><session_name>s</session_name>"),
    ):
        shown = answer(daemon.lttng("--mi", "xml", "snapshot", *words.split()))
        found = f"<snapshot>{inner}</snapshot>" if inner else "<snapshot/>"
        action = words.split()[0]
        assert shown == (
            (
                f"<snapshot_action><name>{action}</name><output>{found}</output>"
                "</snapshot_action>"
            ),
            "true",
        )


def test_the_machine_interface_lists_outputs(daemon: SessionDaemon):
    """With an empty URL for data, and 0 without a limit."""
    good(daemon, "create", "s", "--snapshot", "--output=/tmp/out")
    shown, success = answer(daemon.lttng(*["--mi", "xml", "snapshot", "list-output"]))
    assert success == "true"
    assert shown == (
        "<snapshot_action><name>list-output</name><output><session><name>s</name>"
        "<snapshots><snapshot><id>1</id><name>snapshot-1</name>"
        "<ctrl_url>/tmp/out</ctrl_url><data_url/><max_size>0</max_size></snapshot>"
        "</snapshots></session></output></snapshot_action>"
    )


def test_a_place_that_cannot_be_is_said(daemon: SessionDaemon, tmp_path: Path):
    """With the reason."""
    (tmp_path / "file").touch()
    good(daemon, "create", "s", "--snapshot", f"--output={tmp_path}/file")
    good(daemon, "enable-event", "-u", "a:b")
    good(daemon, "start")
    failed = daemon.lttng("snapshot", "record")
    why = f"{tmp_path}/file: File exists"
    assert failed == (1, "", f"Error: Create directory failed: {why}\n")


def test_a_name_that_is_taken_has_another_number(daemon: SessionDaemon, tmp_path: Path):
    """A session before this one had the same output, a moment ago."""
    now = time.time()
    for second in range(60):
        stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(now + second))
        (tmp_path / f"x-{stamp}-0").mkdir()
    good(daemon, "create", "s", "--snapshot", f"--output={tmp_path}")
    good(daemon, "enable-event", "-u", "a:b")
    good(daemon, "start")
    good(daemon, "snapshot", "record", "--name=x")
    assert [one.name[-2:] for one in tmp_path.iterdir() if [*one.iterdir()]] == ["-1"]
