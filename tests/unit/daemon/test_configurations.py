"""Saved configurations are LTTng's documents, and give the same sessions again."""

from __future__ import annotations

import asyncio
from unittest import mock

import pytest

from vestige.daemon.configuration import read_configuration, write_configuration
from vestige.daemon.protocol import Request
from vestige.daemon.registry import Peer, Registry
from vestige.daemon.saving_verbs import load_text
from vestige.daemon.store import Store
from vestige.daemon.xml_reader import parse_xml
from vestige.errors import VestigeError


def set_up(daemon):
    """Make a session with some of everything."""
    daemon.lttng("create", "s1", "--output=/tmp/s1")
    daemon.lttng("enable-channel", "-u", "c1", "--overwrite", "--subbuf-size=1M")
    daemon.lttng("enable-event", "-u", "-c", "c1", "x*", "-x", "xa,xb", "-f", "n < 1")
    daemon.lttng("enable-event", "-u", "-c", "c1", "y", "--loglevel=INFO")
    daemon.lttng("disable-event", "-u", "-c", "c1", "y")
    daemon.lttng("enable-event", "-p", "my.logger", "--loglevel-only=DEBUG")
    daemon.lttng("add-context", "-u", "-c", "c1", "-t", "vpid")
    daemon.lttng("add-context", "-u", "-c", "c1", "-t", "perf:thread:cs")
    daemon.lttng("add-context", "-u", "-c", "c1", "-t", "$app.p:c")
    daemon.lttng("track", "-u", "--vpid=3,4", "--vuid=root")


def test_a_saved_session_is_loaded_as_it_was(daemon, tmp_path):
    """What is shown of it is the same, and so is what is saved again."""
    set_up(daemon)
    shown = daemon.lttng("list", "s1").out
    saved = daemon.lttng("save", "s1", "-o", str(tmp_path))
    assert saved.out == f"Session s1 saved successfully in {tmp_path}.\n"
    text = (tmp_path / "s1.lttng").read_text()
    daemon.lttng("destroy", "s1")
    loaded = daemon.lttng("load", "-i", str(tmp_path), "s1")
    assert loaded == (0, "Session s1 has been loaded successfully\n", "")
    assert daemon.lttng("list", "s1").out == shown
    daemon.lttng("save", "-f", "-o", str(tmp_path))
    assert (tmp_path / "s1.lttng").read_text() == text


def test_a_place_where_nothing_can_be_saved_is_named(daemon):
    """As it was asked for, without the name of another file that was tried."""
    daemon.lttng("create", "s1", "--output=/tmp/s1")
    done = daemon.lttng("save", "s1", "-o", "/proc")
    error = "Error: /proc/s1.lttng: No such file or directory\n"
    assert (done.status, done.err) == (1, error)


def test_many_sessions_of_a_document_are_kept_at_once(tmp_path):
    """Each time, all sessions are written; there may be thousands."""
    kept = []

    class Counted(Store):
        def write(self, sessions, triggers=(), changed=None):  # noqa: ARG002 - as it is called
            kept.append(len([*sessions]))

    registry = Registry(mock.Mock(), Counted(str(tmp_path / "kept")))
    one = "<session><name>s{}</name><domains/><started>false</started></session>"
    text = f"<sessions>{''.join(map(one.format, range(50)))}</sessions>"
    request = Request("load", {"text": text})
    names = asyncio.run(load_text(registry, Peer(1, 2, 3), request))
    assert (len(names), kept) == (50, [50])


def test_files_are_overwritten_by_force_only(daemon, tmp_path):
    """Otherwise the status is 85."""
    daemon.lttng("create", "s1")
    folder = ("-o", str(tmp_path))
    assert daemon.lttng("save", *folder).status == 0
    again = daemon.lttng("save", *folder)
    assert again == (85, "", "Error: Session file already exists\n")
    assert daemon.lttng("save", "-f", *folder).status == 0


def test_sessions_are_overwritten_by_force_only(daemon, tmp_path):
    """A new name is another way."""
    daemon.lttng("create", "s1")
    daemon.lttng("save", "-o", str(tmp_path))
    load = ("load", "-i", str(tmp_path), "s1")
    assert daemon.lttng(*load).err == "Error: Session name already exists\n"
    assert daemon.lttng(*load, "-f").status == 0
    named = daemon.lttng(*load, "--override-name=copy", "--override-url=/tmp/new")
    assert named.out == (
        "Session s1 has been loaded successfully\n"
        "Session name overridden with copy\n"
        "Session output url overridden with /tmp/new\n"
    )
    assert "Trace output: /tmp/new/" in daemon.lttng("list", "copy").out


def test_a_started_session_is_started_again(daemon, tmp_path):
    """As it was when it was saved."""
    daemon.lttng("create", "s1", f"--output={tmp_path}/trace")
    daemon.lttng("enable-event", "-u", "x")
    daemon.lttng("start")
    daemon.lttng("save", "-o", str(tmp_path))
    daemon.lttng("destroy")
    daemon.lttng("load", "-i", str(tmp_path / "s1.lttng"), "s1")
    assert "Recording session s1: [active]" in daemon.lttng("list", "s1").out


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("bad", "expected XML"),
        ("<other/>", "expected an element 'sessions'"),
        ('<!DOCTYPE s [<!ENTITY e "x">]><sessions>&e;</sessions>', "no document type"),
        (
            (
                "<sessions><session><name>s</name><attributes><live_timer_interval>1"
                "</live_timer_interval></attributes></session></sessions>"
            ),
            "expected a relay daemon for viewers",
        ),
        (
            (
                "<sessions><session><name>s</name><domains><domain><type>NONE</type>"
                "</domain></domains></session></sessions>"
            ),
            "no domain 'NONE'",
        ),
    ],
)
def test_a_document_that_cannot_be_used_is_refused(daemon, tmp_path, text, reason):
    """With the reason and the file, and no session is made of it."""
    path = tmp_path / "b.lttng"
    path.write_text(text)
    done = daemon.lttng("load", "-i", str(path))
    assert done.status == 1
    assert f"{path}: " in done.err
    assert reason in done.err
    assert daemon.lttng("list").out == "Currently no available recording session\n"


def document(channel="", *, output="/tmp/s", trackers="", started="false"):
    """Return the document of a session ``s`` with one channel ``c``."""
    return (
        "<sessions><session><name>s</name><domains><domain><type>UST</type>"
        f"<buffer_type>PER_UID</buffer_type><channels><channel>{channel}</channel>"
        f"</channels>{trackers}</domain></domains><started>{started}</started>"
        f"<output><consumer_output><destination><path>{output}</path></destination>"
        "</consumer_output></output></session></sessions>"
    )


def tracked(attribute, value):
    """Return the inclusion set of an attribute with one value."""
    return (
        f"<process_attr_trackers><{attribute}_process_attr_tracker>"
        f"<process_attr_values><{attribute}>{value}</{attribute}></process_attr_values>"
        f"</{attribute}_process_attr_tracker></process_attr_trackers>"
    )


def rule(text):
    """Return a channel ``c`` with one rule."""
    return f"<name>c</name><events><event>{text}</event></events>"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (document("<name>../../x</name>"), "channel '../../x': Invalid channel name"),
        (document("<name>.c</name>"), "channel '.c': Invalid channel name"),
        (document(""), "channel '': Invalid channel name"),
        (
            document("<name>c</name><subbuffer_size>1000</subbuffer_size>"),
            "channel 'c': Invalid parameter",
        ),
        (
            document("<name>c</name><subbuffer_count>1073741824</subbuffer_count>"),
            "channel 'c': Invalid parameter",
        ),
        (
            document(
                "<name>c</name><monitor_timer_interval>-5</monitor_timer_interval>"
            ),
            "channel 'c': Invalid parameter",
        ),
        (
            document("<name>c</name><subbuffer_size>4k</subbuffer_size>"),
            "subbuffer_size: expected a number, not '4k'",
        ),
        (
            document("<name>c</name><output_type>SPLICE</output_type>"),
            "output_type 'SPLICE': expected MMAP",
        ),
        (
            document(rule("<name>e</name><filter>a ==</filter>")),
            "event rule 'e': filter 'a ==', column 5: expected a field",
        ),
        (
            document(rule("<name>e</name><loglevel_type>HIGH</loglevel_type>")),
            "event rule 'e': Invalid parameter",
        ),
        (
            document(rule("<name>e</name><type>SYSCALL</type>")),
            "no event type 'SYSCALL' in user space",
        ),
        (
            document("<name>c</name>", trackers=tracked("vpid", "<name>x</name>")),
            "vpid 'x': expected a number of up to 32 bits",
        ),
        (
            document("<name>c</name>", trackers=tracked("vuid", "<name>no</name>")),
            "vuid 'no': User not found",
        ),
        (document("<name>c</name>", output="a/b"), "'a/b': expected an absolute path"),
    ],
)
def test_a_document_gives_no_more_than_commands_do(daemon, tmp_path, text, reason):
    """Names of channels name files, and rules go to all programs."""
    path = tmp_path / "b.lttng"
    path.write_text(text)
    done = daemon.lttng("load", "-i", str(path))
    assert done.status == 1
    assert f"{path}: session 's': {reason}" in done.err
    assert daemon.lttng("list").out == "Currently no available recording session\n"


def test_a_session_that_cannot_be_started_is_not_loaded(daemon, tmp_path):
    """It is not left active, and a load that works is not in its way."""
    path = tmp_path / "b.lttng"
    path.write_text(document("<name>c</name>", output="/proc/nothing", started="true"))
    done = daemon.lttng("load", "-i", str(path))
    assert done.err.endswith("Error: Create directory failed\n")
    assert daemon.lttng("list").out == "Currently no available recording session\n"


def test_texts_are_loaded_to_the_letter():
    """A space at the end of a filter tells a rule from another."""
    [(session, _)] = read_configuration(document(rule("<name>e</name>")), 1, 2)
    [event] = session.channels["c"].rules
    event.name, event.filter = " a\tb ", "text == 'x\r\n' "
    assert read_configuration(write_configuration(session), 1, 2) == [(session, False)]


def test_a_session_without_output_has_an_empty_path():
    """LTTng's schema wants the element, and its tool loads nothing without it."""
    [(session, _)] = read_configuration(document("<name>c</name>", output=""), 1, 2)
    assert session.output is None
    text = write_configuration(session)
    assert "<enabled>true</enabled>" in text.split("<consumer_output>")[1]
    assert "<path></path>" in text
    assert read_configuration(text, 1, 2) == [(session, False)]


@pytest.mark.parametrize("words", [["nosuch"], ["-i", "/nonexistent"]])
def test_what_is_not_there_is_not_loaded(daemon, words):
    """And the current session stays what it was."""
    daemon.lttng("create", "s1")
    done = daemon.lttng("load", *words)
    assert done.status == 1
    assert (daemon.home / ".lttngrc").read_text() == "session=s1\n"


def test_trackers_of_older_versions_are_read():
    """Until LTTng 2.11 there was one for process IDs."""
    text = (
        "<sessions><session><name>s</name><domains><domain><type>UST</type>"
        "<buffer_type>PER_PID</buffer_type><trackers><pid_tracker><targets>"
        "<pid_target><pid>5</pid></pid_target></targets></pid_tracker></trackers>"
        "</domain></domains></session></sessions>"
    )
    [(session, is_started)] = read_configuration(text, 1, 2)
    assert session.trackers == {"vpid": ["5"], "vuid": None, "vgid": None}
    assert session.buffers == "pid"
    assert not is_started
    again = read_configuration(write_configuration(session), 1, 2)
    assert again == [(session, False)]


def test_a_document_is_bounded_in_depth():
    """Not by what memory holds."""
    with pytest.raises(VestigeError, match="smaller document"):
        parse_xml("<a>" * 100_000)


def test_a_session_of_snapshots_is_loaded_as_it_was(daemon, tmp_path):
    """With its mode and its output, which another can take the place of."""
    daemon.lttng("create", "s1", "--snapshot", "--no-output")
    daemon.lttng("snapshot", "add-output", "-n", "mine", "-m", "8M", "/tmp/out")
    daemon.lttng("enable-channel", "-u", "c1")
    shown = daemon.lttng("list", "s1").out
    assert "[inactive snapshot]" in shown
    daemon.lttng("save", "s1", "-o", str(tmp_path))
    text = (tmp_path / "s1.lttng").read_text()
    session = parse_xml(text).find("session")
    assert session.value("attributes/snapshot_mode") == "true"
    output = session.find("output/snapshot_outputs/output")
    found = [output.value("name"), output.value("max_size")]
    assert found == ["mine", "8388608"]
    assert output.value("consumer_output/destination/path") == "/tmp/out"
    for more, path in (((), "/tmp/out"), (("--override-url=/tmp/new",), "/tmp/new/")):
        daemon.lttng("destroy", "s1")
        assert daemon.lttng("load", "-i", str(tmp_path), "s1", *more).status == 0
        assert daemon.lttng("list", "s1").out == shown
        assert daemon.lttng("snapshot", "list-output", "-s", "s1").out == (
            "Snapshot output list for session s1\n"
            f"    [1] mine: {path} (max size: 8388608 bytes)\n"
        )


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("/tmp/out", "out", "'out': expected an absolute path"),
        ("<max_size>0", "<max_size>-1", "-1: expected a number of bytes"),
        ("</output>\n", "</output>\n<output><name>b</name></output>\n", "one"),
    ],
)
def test_outputs_of_snapshots_that_cannot_be_are_refused(
    daemon, tmp_path, old, new, why
):
    """Anybody can write a document."""
    daemon.lttng("create", "s1", "--snapshot", "--output=/tmp/out")
    daemon.lttng("save", "s1", "-o", str(tmp_path))
    daemon.lttng("destroy", "s1")
    file = tmp_path / "s1.lttng"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    done = daemon.lttng("load", "-i", str(tmp_path), "s1")
    assert (done.status, daemon.lttng("list", "s1").status) == (1, 1)
    assert why in done.err
