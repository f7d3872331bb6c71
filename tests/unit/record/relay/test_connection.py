"""The connections to a relay daemon that answers slowly."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import suppress

import pytest

from vestige.record.relay import connection
from vestige.record.relay.connection import RelayAddress
from vestige.record.relay.messages import SessionFacts


def test_an_answer_that_comes_byte_by_byte_has_an_end(monkeypatch: pytest.MonkeyPatch):
    """However often there is another byte."""
    monkeypatch.setattr(connection, "SILENT_SECONDS", 0.3)
    control, data = (socket.create_server(("127.0.0.1", 0)) for _ in range(2))
    address = RelayAddress("127.0.0.1", *(s.getsockname()[1] for s in (control, data)))
    has_ended = threading.Event()

    def drip() -> None:
        peer, _ = control.accept()
        with peer, suppress(OSError):
            peer.sendall(struct.pack(">IIQII", 2, 13, 1, 10, 60000))
            while not has_ended.wait(0.05):
                peer.sendall(b"a")

    thread = threading.Thread(target=drip)
    thread.start()
    session = SessionFacts("s", "machine", "", bytes(range(16)), 1, 1000)
    with control, data, pytest.raises(TimeoutError, match="does not answer"):
        connection.RelayConnection(address, session)
    has_ended.set()
    thread.join()
