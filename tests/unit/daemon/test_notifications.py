"""Who is told when triggers fire, and of what."""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import signal
import socket
import threading
from pathlib import Path
from unittest import mock

import pytest

import vestige
from support.session_daemon import SECONDS, say
from support.waiting import wait_until
from vestige.control.listening import Notifications
from vestige.daemon.client import Client
from vestige.daemon.subscriber import Subscriber
from vestige.errors import SessionError, VestigeError
from vestige.record.backends.in_process.tracer import library_path

LIBRARY = Path(library_path()).parent / "lib" / "liblttng-ctl.so.0"
CONDITION = {"type": "session-consumed-size", "session": "s", "threshold_bytes": 5}


def subscriber(daemon):
    """Return a connection to a daemon."""
    return Subscriber.connect(folder=str(daemon.run_folder))


def test_subscriptions(daemon):
    """Are there once for each condition, however it is written."""
    one = subscriber(daemon)
    one.subscribe(CONDITION)
    one.subscribe()
    with pytest.raises(SessionError) as raised:
        one.subscribe({**CONDITION, "errors": []})
    assert raised.value.name == "ALREADY_SUBSCRIBED"
    one.ask("unsubscribe", condition=CONDITION)
    with pytest.raises(SessionError) as raised:
        one.ask("unsubscribe", condition=CONDITION)
    assert raised.value.name == "NOT_SUBSCRIBED"
    one.close()


@pytest.mark.parametrize(
    "condition",
    [
        {},
        {"type": "nosuch"},
        {"type": "session-consumed-size", "session": "s"},
        {"type": "session-consumed-size", "session": 5, "threshold_bytes": 1},
        {"type": "session-consumed-size", "session": "s", "threshold_bytes": -1},
        {"type": "buffer-usage-high", "session": "s", "channel": "c", "domain": "X"},
        {"type": "event-rule-matches"},
        {"type": "event-rule-matches", "rule": {"type": "user-tracepoint", "name": 1}},
        {
            "type": "event-rule-matches",
            "rule": {"type": "user-tracepoint"},
            "captures": [{"type": "element", "index": 1 << 32, "of": {}}],
        },
    ],
)
def test_conditions_that_are_none(daemon, condition):
    """Are refused, and the connection goes on."""
    one = subscriber(daemon)
    with pytest.raises(SessionError) as raised:
        one.subscribe(condition)
    assert raised.value.name == "INVALID"
    one.subscribe(CONDITION)
    one.close()


def test_a_daemon_that_ends_says_so(home):
    """Iterating ends; one that is killed is an error."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        assert home.start().returncode == 0
        with mock.patch.dict(os.environ, home.environment):
            fired = vestige.notifications()
        assert fired.wait(0.0) is None
        home.end(number)
        if number == signal.SIGTERM:
            assert [*fired] == []
            assert fired.is_closed
        else:
            with pytest.raises(VestigeError, match="ended the connection"):
                next(fired)
        fired.close()


class FakeDaemon:
    """Answers the first request, and then says what it is given."""

    def __init__(self):
        ours, self._theirs = socket.socketpair()
        thread = threading.Thread(target=self._answer)
        thread.start()
        self.fired = Notifications(Subscriber(ours), ("t",))
        thread.join()

    def _answer(self):
        self._theirs.recv(1 << 16)
        # What is told may come before the answer.
        self.say({"dropped": 2})
        self._theirs.sendall(b'{"version":1,"number":1,"answer":{}}\n')

    def say(self, message):
        """Send a message."""
        line = json.dumps({"version": 1, "number": None, **message}) + "\n"
        self._theirs.sendall(line.encode())

    def end(self):
        """Close the connection."""
        self._theirs.close()


@pytest.fixture
def fake():
    """A daemon whose trigger ``t`` somebody wants to know of."""
    made = FakeDaemon()
    yield made
    made.end()
    made.fired.close()


def told(name, condition, **evaluation):
    """Return what the daemon says of a trigger."""
    trigger = {"name": name, "owner_uid": 7, "condition": condition}
    return {"notification": {"trigger": trigger, "evaluation": evaluation}}


def test_what_is_told(fake):
    """Values have the types of Python; others' triggers are left out."""
    of = {"type": "app-context", "provider": "p", "name": "t"}
    captures = [
        {"type": "payload-field", "name": "a"},
        {"type": "channel-context", "name": "b"},
        {"type": "element", "index": 3, "of": of},
    ]
    values = [
        {"type": "array", "value": [{"type": "real", "value": "-inf"}, None]},
        {"type": "string", "value": "x\udcff"},
        {"type": "unsigned-enum", "value": 3, "labels": ["l"]},
    ]
    condition = {"type": "event-rule-matches", "captures": captures}
    kind = "event-rule-matches"
    fake.say(told("u", condition, type=kind, captures=values))
    fake.say(told("t", condition, type=kind, captures=values))
    fake.say(told("t", CONDITION, type="session-consumed-size", bytes=9))
    first, second = next(fake.fired), next(fake.fired)
    assert first == (
        *("t", 7, kind),
        {"a": [float("-inf"), None], "$ctx.b": "x\udcff", "$app.p:t[3]": 3},
        {},
        2,
    )
    assert second == ("t", 7, "session-consumed-size", {}, {"bytes": 9}, 0)
    assert fake.fired.dropped == 2


def test_what_makes_no_sense(fake):
    """Is an error."""
    fake.say({"notification": {"trigger": {}}})
    with pytest.raises(VestigeError, match="sent no notification"):
        next(fake.fired)


def test_others_run_while_one_waits(fake):
    """``async for`` ends when the daemon does."""

    async def collect():
        return [one.facts["bytes"] async for one in fake.fired]

    async def say():
        await asyncio.sleep(0)
        fake.say(told("t", CONDITION, type="session-consumed-size", bytes=9))
        await asyncio.sleep(0)
        fake.say({"closed": True})

    async def both():
        async with asyncio.timeout(SECONDS):
            found, _ = await asyncio.gather(collect(), say())
        return found

    assert asyncio.run(both()) == [9]


def test_the_control_library_sees_what_is_pending(daemon, tmp_path):
    """At the first look, without waiting: what made it was answered before."""
    library = ctypes.CDLL(str(LIBRARY))
    library.lttng_condition_session_rotation_ongoing_create.restype = ctypes.c_void_p
    library.lttng_notification_channel_create.restype = ctypes.c_void_p
    endpoint = ctypes.c_void_p.in_dll(
        library, "lttng_session_daemon_notification_endpoint"
    )
    condition = ctypes.c_void_p(
        library.lttng_condition_session_rotation_ongoing_create()
    )
    library.lttng_condition_session_rotation_set_session_name(condition, b"s")
    with mock.patch.dict(os.environ, daemon.environment):
        channel = ctypes.c_void_p(library.lttng_notification_channel_create(endpoint))
        assert library.lttng_notification_channel_subscribe(channel, condition) == 0
        client = Client.connect()
    client.register_trigger(
        {
            "condition": {"type": "session-rotation-ongoing", "session": "s"},
            "action": {"type": "notify"},
        }
    )
    client.close()
    say(daemon, f"create s --output={tmp_path}", "enable-event -u x", "start", "rotate")
    is_pending = ctypes.c_bool()
    look = library.lttng_notification_channel_has_pending_notification
    assert look(channel, ctypes.byref(is_pending)) == 0
    assert is_pending.value
    library.lttng_notification_channel_destroy(channel)
    library.lttng_condition_destroy(condition)
    say(daemon, "destroy s")


def test_closing_ends_who_waits(daemon):
    """In another thread, and in another task."""
    with mock.patch.dict("os.environ", daemon.environment):
        fired = vestige.notifications()
        ended = threading.Event()

        def read():
            assert [*fired] == []
            ended.set()

        thread = threading.Thread(target=read)
        thread.start()
        wait_until(lambda: is_asleep(thread), "the thread waits", SECONDS)
        fired.close()
        assert ended.wait(SECONDS)
        thread.join()

        async def main():
            fired = vestige.notifications()

            async def read():
                return [one async for one in fired]

            task = asyncio.create_task(read())
            await asyncio.sleep(0)
            fired.close()
            return await asyncio.wait_for(task, SECONDS)

        assert asyncio.run(main()) == []
    assert fired.wait(0.0) is None


def is_asleep(thread):
    """Tell whether a thread waits in a system call."""
    path = Path(f"/proc/self/task/{thread.native_id}/syscall")
    return path.read_text().split()[0] != "running"


def test_others_do_not_make_a_wait_longer(daemon):
    """Also if more and more of them come."""

    def other(left):
        return {"dropped": 1} if left > 0 else None

    with mock.patch.dict("os.environ", daemon.environment):
        fired = vestige.notifications("nosuch")
    with fired, mock.patch.object(fired._subscriber, "wait", other):
        assert fired.wait(0.01) is None
    assert fired.dropped > 1
