"""Sessions that are sent to a relay daemon: verbs, what is shown, what is refused."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from unittest import mock

import pytest

from support.relay_receiver import CREATE_CHUNK, RelayReceiver, relay_receiver
from support.session_daemon import SECONDS, SessionDaemon, say
from support.spooled_traces import Trace
from support.waiting import wait_until
from vestige.daemon.client import Client


@pytest.fixture
def relay(daemon: SessionDaemon) -> Iterator[RelayReceiver]:
    """A relay daemon, which is there until the sessions that it gets are destroyed.

    For one that has gone, 'destroy' waits.
    """
    with relay_receiver() as one:
        yield one
        one.confirms = True
        daemon.lttng("destroy", "--all")


def url(relay: RelayReceiver, path: str = "") -> str:
    """Return the URL of a relay daemon."""
    return f"net://127.0.0.1:{relay.control_port}:{relay.data_port}{path}"


def spools() -> set[Path]:
    """Return the directories in memory."""
    return {*Path("/dev/shm").glob("vestige-relay-*")}


def test_a_session_is_on_the_relay_from_its_first_channel_on(
    daemon: SessionDaemon, relay: RelayReceiver
):
    """It ends there when it is destroyed, and leaves nothing in memory."""
    before = spools()
    place = f"tcp4://127.0.0.1:{relay.control_port}/d [data: {relay.data_port}]"
    done = daemon.lttng("create", "s", f"--set-url={url(relay, '/d')}")
    assert done.out == f"Session s created.\nTraces will be output to {place}\n"
    assert not relay.sessions
    say(daemon, "enable-event -u x:*")
    [session] = relay.sessions
    assert (session.name, session.base_path) == ("s", "d")
    assert f"Trace output: {place}" in daemon.lttng("list").out
    assert f"Trace output: {place}" in daemon.lttng("list", "s").out
    assert f"<path>{place}</path>" in daemon.lttng("--mi", "xml", "list", "s").out
    say(daemon, "start", "stop")
    done = daemon.lttng("destroy")
    assert (done.status, done.out) == (0, "Session s destroyed\n")
    assert session.chunks == [0]
    assert session.closed == [(0, 1)]
    assert spools() == before


def test_rotations_and_clears_are_chunks(daemon: SessionDaemon, relay: RelayReceiver):
    """The archives are where the relay daemon says."""
    say(daemon, f"create s -U {url(relay)}", "enable-event -u x:*", "start")
    ports = f"[control port {relay.control_port}, data port {relay.data_port}]"
    host = relay.sessions[0].host
    done = daemon.lttng("rotate")
    assert f"is now readable on relay tcp://127.0.0.1/{host}/s/0 {ports}" in done.out
    say(daemon, "clear")
    done = daemon.lttng("--mi", "xml", "rotate")
    assert f"<relative_path>{host}/s/2</relative_path></relay>" in done.out
    done = daemon.lttng("destroy")
    assert f"is now readable on relay tcp://127.0.0.1/{host}/s/3 {ports}" in done.out
    assert relay.sessions[0].closed == [(0, 0), (1, 2), (2, 0), (3, 0)]


@pytest.mark.parametrize("words", ["enable-channel -u c", "enable-event -u x"])
def test_a_relay_that_is_not_there_is_told(
    daemon: SessionDaemon, relay: RelayReceiver, words: str
):
    """When there is something to record."""
    relay.close()
    say(daemon, f"create s -U {url(relay)}")
    done = daemon.lttng(*words.split())
    assert done.status != 0
    assert "Unable to connect to lttng-relayd" in done.err


def test_an_older_relay_is_told(daemon: SessionDaemon):
    """It knows no chunks."""
    with relay_receiver(minor=10) as relay:
        say(daemon, f"create s -U {url(relay)}")
        done = daemon.lttng("enable-event", "-u", "x")
        assert (done.status, "Relay daemon not compatible" in done.err) == (105, True)


def test_snapshots_are_sent(daemon: SessionDaemon, relay: RelayReceiver):
    """Each is a session of its own there."""
    done = daemon.lttng("create", "s", "--snapshot", f"-U{url(relay)}")
    place = f"tcp4://127.0.0.1:{relay.control_port}/"
    assert f"Default snapshot output set to {place}\n" in done.out
    assert f"[1] snapshot-1: {place}" in daemon.lttng("snapshot", "list-output").out
    say(daemon, "enable-event -u x:*", "start", "snapshot record")
    [session] = relay.sessions
    assert session.is_snapshot
    say(daemon, f"snapshot record -n other {url(relay, '/sub')}")
    assert relay.sessions[1].base_path == "sub"
    relay.close()
    done = daemon.lttng("snapshot", "record")
    assert (done.status, done.err) == (1, "Error: Unable to connect to lttng-relayd\n")


def test_configurations_have_relays(
    daemon: SessionDaemon, relay: RelayReceiver, tmp_path: Path
):
    """As LTTng saves them; another one may take the place."""
    say(
        daemon,
        f"create s -U {url(relay, '/p')}",
        "enable-event -u x:*",
        f"save -o {tmp_path}",
        "destroy",
    )
    text = (tmp_path / "s.lttng").read_text()
    control, data = relay.control_port, relay.data_port
    assert f"<control_uri>tcp4://127.0.0.1:{control}/p</control_uri>" in text
    assert f"<data_uri>tcp4://127.0.0.1:{data}/</data_uri>" in text
    say(daemon, f"load -i {tmp_path} s")
    listed = daemon.lttng("list", "s").out
    assert f"tcp4://127.0.0.1:{control}/p [data: {data}]" in listed
    say(daemon, "start", "destroy")
    assert relay.sessions[1].base_path == "p"
    say(daemon, f"load -i {tmp_path} s --override-url=net://127.0.0.1:7:8/q")
    assert "tcp4://127.0.0.1:7/q [data: 8]" in daemon.lttng("list", "s").out
    say(daemon, "destroy", f"load -i {tmp_path} s --override-url=file://{tmp_path}/t")
    assert f"Trace output: {tmp_path}/t" in daemon.lttng("list", "s").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "-U bad://x",
            [
                "URI parse unknown protocol bad://x",
                "Unable to parse the URL bad://x",
                "Unrecognized URL format.",
            ],
        ),
        ("-U tcp://127.0.0.1", ["Unrecognized URL format."]),
        (
            "-C tcp://127.0.0.1 -D bad://x",
            [
                "URI parse unknown protocol bad://x",
                "Unable to parse the data URL bad://x",
                "Unrecognized URL format.",
            ],
        ),
        ("-C tcp://127.0.0.1", ["Both control and data URLs must be specified."]),
        (
            "-U net://127.0.0.1 -o /x",
            [
                "Only one of the --set-url, --ctrl-url/data-url, or --output options may be used at once."
            ],
        ),
        (
            "-U net://127.0.0.1 -D tcp://127.0.0.1",
            [
                "Only one of the --set-url, --ctrl-url/data-url, or --output options may be used at once."
            ],
        ),
        (
            "-C tcp://127.0.0.1 -D tcp6://[::1]",
            ["Control and data destination mismatch", "Unrecognized URL format."],
        ),
        ("-U net://127.0.0.1/a/../../b", ["Invalid parameter"]),
    ],
)
def test_urls_that_are_none_are_refused(
    daemon: SessionDaemon, words: str, said: list[str]
):
    """With LTTng's words; nothing is created."""
    before = spools()
    done = daemon.lttng("create", "s", *words.split())
    assert done.status == 1
    assert [
        one.removeprefix("Error: ")[: len(text)]
        for one, text in zip(done.err.splitlines(), said, strict=True)
    ] == said
    assert "no available" in daemon.lttng("list").out
    assert spools() == before


def test_what_is_empty_after_a_rotation_is_no_archive(
    daemon: SessionDaemon, relay: RelayReceiver
):
    """As it is none here."""
    say(daemon, f"create s -U {url(relay)}", "enable-event -u x:*", "start", "stop")
    say(daemon, "rotate")
    done = daemon.lttng("destroy")
    assert (done.status, done.out) == (0, "Session s destroyed\n")
    assert relay.sessions[0].closed == [(0, 0), (1, 2)]


def test_clients_do_not_learn_where_it_is_kept(
    daemon: SessionDaemon, relay: RelayReceiver
):
    """They are told what LTTng tells, also those of the control library."""
    say(daemon, f"create s -U {url(relay)}", "enable-event -u x:*", "start")
    with mock.patch.dict(os.environ, daemon.environment):
        client = Client.connect()
    with closing(client):
        place = f"tcp4://127.0.0.1:{relay.control_port}/ [data: {relay.data_port}]"
        assert client.describe("s")["output"] == place
        assert [one["output"] for one in client.sessions()] == [place]


def test_metadata_of_live_sessions_are_not_regenerated(
    daemon: SessionDaemon, relay: RelayReceiver
):
    """As with LTTng: viewers have read them."""
    say(daemon, f"create s --live -U {url(relay)}", "enable-event -u x:*", "start")
    assert relay.sessions[0].live_timer == 1_000_000
    done = daemon.lttng("regenerate", "metadata")
    assert (done.status, done.err) == (119, "Error: Live sessions are not supported\n")


def test_others_are_served_while_a_relay_confirms_nothing(
    daemon: SessionDaemon, relay: RelayReceiver
):
    """Only what is about the same session waits, and is done then."""
    before = spools()
    say(daemon, f"create s -U {url(relay)}", "enable-event -u x:*", "start")
    relay.confirms = False
    [spool] = spools() - before
    Trace(spool).add("c_0", b"x" * 4096)
    with ThreadPoolExecutor() as threads, ExitStack() as stack:
        with mock.patch.dict(os.environ, daemon.environment):
            client, other, third = (
                stack.enter_context(closing(Client.connect())) for _ in range(3)
            )
        stopping = threads.submit(other.stop, "s")
        wait_until(
            lambda: not client.sessions()[0]["active"], "it is stopping", SECONDS
        )
        starting = threads.submit(third.start, "s")
        client.create("other")
        client.enable_channel("other", "c")
        client.start("other")
        client.destroy("other")
        assert not stopping.done()
        assert not starting.done()
        relay.confirms = True
        assert stopping.result(SECONDS)["failure"] is None
        assert starting.result(SECONDS)["active"]


def test_a_schedule_that_waits_for_a_relay_loses_nothing(
    daemon: SessionDaemon, relay: RelayReceiver
):
    """What was rotated meanwhile is sent later, and 'stop' has nothing to tell."""
    say(daemon, f"create s -U {url(relay)}", "enable-event -u x:*", "start")
    relay.refused = CREATE_CHUNK
    say(daemon, "enable-rotation --timer=100ms")
    # Longer than a lost connection is waited for.
    wait_until(lambda: len(relay.sessions) > 6, "it has tried", SECONDS)
    relay.refused = 0
    wait_until(lambda: bool(relay.sessions[-1].closed), "it is back", SECONDS)
    say(daemon, "disable-rotation --timer")
    done = daemon.lttng("stop")
    assert (done.status, done.err) == (0, "")
    say(daemon, "destroy")
