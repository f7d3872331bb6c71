"""Each request gets its own answer, also after one that nobody waited for."""

from __future__ import annotations

import json
import socket

import pytest

from vestige.daemon.connection import Connection
from vestige.errors import VestigeError


class Interrupted(socket.socket):
    """A socket whose reader is interrupted once."""

    is_interrupted = False

    def recv(self, *arguments):
        """Read, or be interrupted before."""
        if not self.is_interrupted:
            self.is_interrupted = True
            raise KeyboardInterrupt
        return super().recv(*arguments)


def test_an_interrupted_request_leaves_no_answer_to_the_next():
    """Ctrl-C comes while the daemon is asked, and the session is still to be stopped."""
    ours, theirs = socket.socketpair()
    connection = Connection(Interrupted(fileno=ours.detach()))
    with theirs:
        for number in range(3):
            answer = {"version": 1, "answer": {"number": number}}
            theirs.sendall(json.dumps(answer).encode() + b"\n")
        with pytest.raises(KeyboardInterrupt):
            connection.ask("list")
        assert connection.ask("list") == {"number": 1}
        assert connection.ask("list") == {"number": 2}
    with pytest.raises(VestigeError, match="ended the connection"):
        connection.ask("list")
    connection.close()
