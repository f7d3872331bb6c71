"""Each request gets its own answer, also after one that nobody waited for."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

from vestige.daemon.connection import Connection
from vestige.errors import SessionError, VestigeError

SECONDS = 60.0


class Interrupted(socket.socket):
    """A socket whose user is interrupted once, at a place that was chosen."""

    place = ""

    def recv(self, *arguments):
        """Read, or be interrupted before or after."""
        self._interrupt("before an answer")
        part = super().recv(*arguments)
        self._interrupt("after a part of an answer")
        return part

    def sendall(self, request):
        """Write, or be interrupted before, in the middle or after."""
        self._interrupt("before a request")
        if self.place == "in a request":
            super().sendall(request[:20])
        self._interrupt("in a request")
        super().sendall(request)
        self._interrupt("after a request")

    def _interrupt(self, place):
        if self.place == place:
            self.place = ""
            raise KeyboardInterrupt


def answer_all(theirs: socket.socket) -> None:
    """Answer all requests with their verbs, as the daemon does."""
    with theirs, theirs.makefile("rb") as requests:
        for line in requests:
            if line == b"\n":
                continue
            answer = {"version": 1, "number": None, "refusal": "INVALID"}
            with suppress(ValueError):
                request = json.loads(line)
                answer = {"version": 1, "number": request["number"]}
                answer["answer"] = {"verb": request["verb"]}
            theirs.sendall(json.dumps(answer).encode() + b"\n")


@pytest.fixture
def asked() -> Iterator[tuple[Connection, Interrupted]]:
    """A connection to who answers, and its socket."""
    ours, theirs = socket.socketpair()
    place = Interrupted(fileno=ours.detach())
    place.settimeout(SECONDS)
    connection = Connection(place)
    answering = threading.Thread(target=answer_all, args=[theirs])
    answering.start()
    yield connection, place
    connection.close()
    answering.join()


@pytest.mark.parametrize(
    "place",
    [
        "before a request",
        "in a request",
        "after a request",
        "before an answer",
        "after a part of an answer",
    ],
)
def test_an_interrupted_request_leaves_no_answer_to_the_next(asked, place):
    """Ctrl-C comes while the daemon is asked, and the session is still to be stopped.

    Whatever of the request was sent or of the answer read, the next one is answered at
    once.
    """
    connection, interrupted = asked
    assert connection.ask("list") == {"verb": "list"}
    interrupted.place = place
    with pytest.raises(KeyboardInterrupt):
        connection.ask("start")
    for verb in ("stop", "destroy"):
        assert connection.ask(verb) == {"verb": verb}


def test_an_interrupted_request_hinders_no_other(asked):
    """Ctrl-C comes when its turn has just begun."""
    connection, _ = asked
    assert connection._turn.acquire()
    assert connection.ask("stop") == {"verb": "stop"}


def test_a_daemon_that_ends_is_told_from_one_that_answers():
    """With a half line, with none, and with one that is no answer."""
    for said, text in (
        (b"", "ended the connection"),
        (b'{"version": 1,', "ended the connection"),
        (b"what?\n", "sent no answer"),
        (b'{"version": 2}\n', "speaks version 2: expected 1"),
    ):
        ours, theirs = socket.socketpair()
        connection = Connection(ours)
        with theirs:
            theirs.sendall(said)
            theirs.shutdown(socket.SHUT_WR)
            with pytest.raises(VestigeError, match=text):
                connection.ask("list")
        connection.close()


def test_a_daemon_that_could_not_read_a_request_refuses_it():
    """Its refusal has no number."""
    ours, theirs = socket.socketpair()
    connection = Connection(ours)
    with theirs:
        theirs.sendall(b'{"version": 1, "refusal": "INVALID", "detail": "why"}\n')
        with pytest.raises(SessionError, match="why"):
            connection.ask("list")
    connection.close()
