"""Those who wait for a sender."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.relay_receiver import relay_receiver
from support.relay_senders import SECONDS, sending
from support.spooled_traces import Trace
from vestige.record.relay.connection import RelayConnection


def test_a_flush_waits_for_metadata(tmp_path: Path):
    """Also where no packet comes after them."""
    with relay_receiver() as relay, sending(relay, tmp_path) as sender:
        trace = Trace(tmp_path)
        trace.add("c_0", b"x" * 4096)
        assert sender.flush(SECONDS)
        relay.takes_metadata.clear()
        trace.describe(b"other", is_new=True)
        assert not sender.flush(0.5)
        relay.takes_metadata.set()
        assert sender.flush(SECONDS)
        stream = next(iter(relay.sessions[0].streams.values()))
        assert (stream.raw, stream.resets) == (b"other", 1)


def test_what_the_kernel_has_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A slow network takes long for what was sent already."""
    left = [*range(20)]

    def queued(_: RelayConnection) -> int:
        return left.pop() if left else 0

    with relay_receiver(confirms=False) as relay, sending(relay, tmp_path) as sender:
        Trace(tmp_path).add("c_0", b"x" * 4096)
        monkeypatch.setattr(RelayConnection, "queued", property(queued))
        assert not sender.flush(0.3)
        assert not left
