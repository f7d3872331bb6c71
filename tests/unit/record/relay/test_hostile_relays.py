"""The sender against relay daemons that answer anything, or nothing."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from support.relay_receiver import RelayReceiver, relay_receiver
from support.spooled_traces import Trace
from vestige.record.relay import connection, kept_files, link
from vestige.record.relay import sender as sender_module
from vestige.record.relay.connection import RelayAddress, RelayRefusedError
from vestige.record.relay.messages import SessionFacts
from vestige.record.relay.plan import SenderPlan
from vestige.record.relay.sender import RelaySender

SEEDS = 8
PACKETS = 12
LONGEST = 10.0
"""Seconds after which something hangs: each wait below is a fraction of one."""


class Spoiler:
    """Makes something else of answers.

    Args:
        seed: What.
    """

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)  # noqa: S311 - the same each time
        self._kinds = [
            self._random,
            self._shortened,
            self._largest,
            self._bit,
            self._dripping,
            self._silent,
            self._ended,
            self._twice,
        ]
        self._share = self._chance.choice([0.02, 0.1, 0.5])
        self.is_over = threading.Event()

    def __call__(self, _: int, answer: bytes) -> Iterator[bytes | None]:
        """Yield what is sent in place of an answer."""
        if self._chance.random() < self._share and not self.is_over.is_set():
            yield from self._chance.choice(self._kinds)(answer)
        else:
            yield answer

    def _random(self, answer: bytes) -> Iterator[bytes | None]:
        yield self._chance.randbytes(len(answer))

    def _shortened(self, answer: bytes) -> Iterator[bytes | None]:
        yield answer[: self._chance.randrange(len(answer) + 1)]
        yield None

    def _largest(self, answer: bytes) -> Iterator[bytes | None]:
        """Set all bits of a number: codes, lengths, handles, versions."""
        at = 4 * self._chance.randrange(max(1, len(answer) // 4))
        yield answer[:at] + b"\xff" * 4 + answer[at + 4 :]

    def _bit(self, answer: bytes) -> Iterator[bytes | None]:
        raw = bytearray(answer)
        if raw:
            raw[self._chance.randrange(len(raw))] ^= 1 << self._chance.randrange(8)
        yield bytes(raw)

    def _dripping(self, answer: bytes) -> Iterator[bytes | None]:
        for one in answer:
            self.is_over.wait(0.005)
            yield bytes([one])

    def _silent(self, _: bytes) -> Iterator[bytes | None]:
        self.is_over.wait(LONGEST)
        yield None

    @staticmethod
    def _ended(_: bytes) -> Iterator[bytes | None]:
        yield None

    @staticmethod
    def _twice(answer: bytes) -> Iterator[bytes | None]:
        yield answer + answer


def send(relay: RelayReceiver, spool: Path, spoiler: Spoiler) -> tuple[bool, int]:
    """Send packets; return whether all are said to be there, and how many are lost."""
    session = SessionFacts("s", "machine", "", bytes(range(16)), 1, 1000)
    address = RelayAddress("127.0.0.1", relay.control_port, relay.data_port)
    owner = os.getuid(), os.getgid()
    sender = RelaySender(SenderPlan(address, session, str(spool), *owner, 1 << 20))
    with suppress(OSError, RelayRefusedError):
        # With another one, the session is there only later.
        sender.connect()
    trace = Trace(spool)
    sender.start(0, 1000.0)
    for number in range(PACKETS):
        trace.add(f"c_{number % 2}", bytes([number]) * 4096)
        sender.flush(0.05)
    is_there = sender.end(0.3, end=2000.0) is not None
    spoiler.is_over.set()
    return is_there, sender.lost_packets


@pytest.mark.parametrize("seed", range(SEEDS))
def test_nothing_hangs_and_losses_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
):
    """Whatever is answered; what is not there in the end was told."""
    monkeypatch.setattr(connection, "SILENT_SECONDS", 0.1)
    monkeypatch.setattr(sender_module, "FIRST_RETRY", 0.01)
    monkeypatch.setattr(sender_module, "LONGEST_RETRY", 0.05)
    monkeypatch.setattr(link, "GONE_SECONDS", 0.1)
    monkeypatch.setattr(kept_files, "LARGEST_FILES", 3 * 4096)
    monkeypatch.setattr(kept_files, "SMALLEST_FILE", 1)
    begin = time.monotonic()
    with relay_receiver() as relay:
        spoiler = Spoiler(seed)
        relay.spoil = spoiler
        is_there, lost = send(relay, tmp_path, spoiler)
        assert time.monotonic() - begin < LONGEST
        assert lost == 0 if is_there else 0 <= lost <= PACKETS
        assert "vestige-relay" not in {one.name for one in threading.enumerate()}
