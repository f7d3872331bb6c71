"""The documents of the machine interface are those of LTTng's schema."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

SPACE = "{https://lttng.org/xml/ns/lttng-mi}"


def read(done):
    """Return the document as nested tuples of names and texts."""
    root = ET.fromstring(done.out)  # noqa: S314 - our own
    assert root.attrib["schemaVersion"] == "4.1"

    def plain(one):
        name = one.tag.removeprefix(SPACE)
        return (name, *map(plain, one)) if len(one) else (name, one.text)

    return plain(root)


@pytest.fixture
def daemon(daemon):
    """A daemon with a session."""
    daemon.lttng("create", "s1", "--output=/tmp/s1")
    return daemon


SESSION = (
    ("name", "s2"),
    ("path", "/tmp/s2"),
    ("enabled", "false"),
    ("snapshot_mode", "0"),
    ("live_timer_interval", "0"),
)


def answer(name, output, success="true"):
    """Return the document of a command."""
    return ("command", ("name", name), ("output", output), ("success", success))


def test_sessions(daemon):
    """create, list, set-session, start, stop, destroy."""
    mi = ("--mi", "xml")
    made = read(daemon.lttng(*mi, "create", "s2", "--output=/tmp/s2"))
    assert made == answer("create", ("session", *SESSION))
    listed = read(daemon.lttng(*mi, "list"))
    assert listed[2][1][1] == ("session", *SESSION)
    assert len(listed) == 3
    chosen = read(daemon.lttng(*mi, "set-session", "s2"))
    assert chosen == answer("set-session", ("sessions", ("session", ("name", "s2"))))
    failed = daemon.lttng(*mi, "start")
    assert read(failed) == answer("start", ("sessions", None), "false")
    assert failed.err == "Error: No channel found in the session\n"
    daemon.lttng("enable-channel", "-u", "c")
    state = ("session", ("name", "s2"), ("enabled", "true"))
    started = read(daemon.lttng(*mi, "start"))
    assert started == answer("start", ("sessions", state))
    destroyed = read(daemon.lttng(*mi, "destroy", "--all"))
    names = [one[1][1] for one in destroyed[2][1][1:]]
    assert names == ["s2", "s1"]


@pytest.mark.parametrize("words", [["list", "--bogus"], ["create", "--output"]])
def test_unknown_options(daemon, words):
    """There is a document all the same, and the status of people's."""
    done = daemon.lttng("--mi", "xml", *words)
    assert read(done) == answer(words[0], None, "false")
    assert done.status == 2


@pytest.mark.parametrize("words", [["view", "nosuch"], ["help", "nosuch"]])
def test_verbs_that_the_schema_does_not_know(daemon, words):
    """They have no document, not one that is against it."""
    done = daemon.lttng("--mi", "xml", *words)
    assert done.out == ""
    assert done.status != 0


def test_channels_and_contexts(daemon):
    """Attributes, counters, and whether each was done."""
    made = read(daemon.lttng("--mi", "xml", "enable-channel", "-u", "c"))
    channel = made[2][1][1]
    assert channel[1:3] == (("name", "c"), ("enabled", "true"))
    assert ("subbuffer_size", "524288") in channel[3]
    assert channel[4] == ("success", "true")
    done = daemon.lttng("--mi", "xml", "disable-channel", "-u", "c,nosuch")
    assert done.status == 4
    off = (("name", "c"), ("enabled", "false"), ("success", "true"))
    missing = (("name", "nosuch"), ("enabled", "true"), ("success", "false"))
    channels = ("channels", ("channel", *off), ("channel", *missing))
    assert read(done) == answer("disable-channel", channels, "false")
    words = "add-context -u -t ip -t perf:thread:cs -t $app.p:c"
    added = read(daemon.lttng("--mi", "xml", *words.split()))
    perf = ("perf", ("type", "1"), ("config", "3"), ("name", "perf_thread_cs"))
    app = ("app", ("provider_name", "p"), ("ctx_name", "c"))
    assert [one[1] for one in added[2][1][1:]] == [("type", "IP"), perf, app]


def test_contexts_have_what_the_schema_allows(daemon):
    """Those that were added; one that was refused makes all of it no success."""
    daemon.lttng("enable-channel", "-u", "c")
    words = "--mi xml add-context -u -t vtid -t tid"
    done = daemon.lttng(*words.split())
    assert (done.status, done.err) == (4, "Error: tid: UST invalid context\n")
    context = ("context", ("type", "VTID"), ("symbol", "vtid"))
    assert read(done) == answer("add-context", ("contexts", context), "false")


def test_configurations(daemon):
    """Where they are is said, also if nobody has said where."""
    folder = ("path", f"{daemon.home}/.lttng/sessions")
    session = ("session", ("name", "s1"))
    saved = read(daemon.lttng("--mi", "xml", "save", "s1", "-f"))
    assert saved == answer("save", ("save", session, folder))
    loaded = read(daemon.lttng("--mi", "xml", "load", "s1", "-f"))
    overrides = ("overrides", None)
    assert loaded == answer("load", ("load", session, folder, overrides))


def test_rules_and_sets(daemon):
    """Levels, exclusions, and whether each was done."""
    words = "--mi xml enable-event -u x* -x xa --loglevel-only=ERR"
    rule = (
        ("name", "x*"),
        ("type", "TRACEPOINT"),
        ("enabled", "true"),
        ("loglevel", "TRACE_ERR"),
        ("loglevel_type", "SINGLE"),
        ("exclusions", ("exclusion", "xa")),
        ("success", "true"),
    )
    made = read(daemon.lttng(*words.split()))
    assert made == answer("enable-event", ("events", ("event", *rule)))
    again = daemon.lttng(*words.split())
    assert again.status == 55
    assert read(again)[3] == ("success", "false")
    off = read(daemon.lttng("--mi", "xml", "disable-event", "-u", "-a"))
    event = ("event", ("name", "*"), ("enabled", "false"), ("success", "true"))
    channel = ("channel", ("name", "channel0"), ("events", event))
    assert off == answer("disable-event", channel)
    tracked = read(daemon.lttng("--mi", "xml", "track", "-u", "--vpid=12"))
    value = ("vpid", ("type", ("id", "12")), ("success", "true"))
    sets = ("vpid_process_attr_tracker", ("process_attr_values", value))
    assert tracked == answer("track", ("process_attr_trackers", sets))


@pytest.mark.parametrize(
    "words",
    [
        *("list nosuch", "status", "save nosuch", "load nosuch", "destroy nosuch"),
        *("rotate", "snapshot record", "clear s1", "remove-trigger t"),
    ],
)
def test_a_failure_is_a_document_as_well(daemon, words):
    """With ``success`` false, and the reason on standard error."""
    daemon.lttng("destroy", "--all")
    done = daemon.lttng("--mi", "xml", *words.split())
    assert done.status
    assert read(done)[3] == ("success", "false")
    assert done.err.startswith("Error: ")
