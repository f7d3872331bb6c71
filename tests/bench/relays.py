"""Relay daemons, ours and LTTng's, with the same senders on loopback.

Run by ``make bench-relays``. Each writes to memory. LTTng's consumer sends what a program
records, from its begin to the end of ``stop``; our sender sends what is in its spool
already. All runs alternate.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import struct
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.sessions import memory, processor
from support.child_relay import (
    HOST,
    LTTNG,
    OURS,
    ChildRelay,
    child_relay,
    missing_relay,
)
from support.compilers import run_tool
from support.lttng import LttngEnvironment, missing_requirement
from vestige.record.relay.connection import RelayAddress
from vestige.record.relay.folder import make_spool
from vestige.record.relay.messages import SessionFacts
from vestige.record.relay.plan import SenderPlan
from vestige.record.relay.sender import RelaySender

HERE = Path(__file__).parent
MEMORY = "/dev/shm"
SIZES = (4 << 10, 512 << 10)
"""Bytes of a packet."""
TEXT = 1000
STREAMS = 4
ROOM = 1 << 40
SECONDS = 120.0
Cost = tuple[float, float]
"""Megabytes a second, and milliseconds of the relay daemon's processor time for a MiB."""


@contextmanager
def running(command: Sequence[str]) -> Iterator[ChildRelay]:
    """Have a relay daemon that writes to memory."""
    folder = Path(tempfile.mkdtemp(dir=MEMORY))
    try:
        with child_relay(folder, command) as relay:
            yield relay
    finally:
        shutil.rmtree(folder)


def fill(spool: Path, size: int, total: int) -> None:
    """Put packets into a spool, as a collector does."""
    folder = spool / "ust/uid/0/64-bit"
    (folder / "index").mkdir(parents=True)
    (folder / "metadata").write_text("/* CTF 1.8 */\n")
    packet, bits = os.urandom(size), size * 8
    for stream in range(STREAMS):
        index = struct.pack(">IIII", 0xC1F1DCC1, 1, 1, 72)
        with (folder / f"c_{stream}").open("wb") as data:
            for number in range(total // STREAMS // size):
                data.write(packet)
                facts = (number * size, bits, bits, 10 * number, 10 * number + 9)
                index += struct.pack(">9Q", *facts, 0, 0, stream, number)
        (folder / "index" / f"c_{stream}.idx").write_bytes(index)


def received(relay: ChildRelay) -> int:
    """Return the bytes that are in data files, which are removed."""
    files = [one for one in relay.output.rglob("c_*") if one.suffix != ".idx"]
    size = sum(one.stat().st_size for one in files)
    shutil.rmtree(relay.output)
    relay.output.mkdir()
    return size


def sent_by_us(relay: ChildRelay, size: int, total: int) -> Cost:
    """Let our sender send what it has."""
    assert relay.pid is not None
    spool = Path(make_spool(os.geteuid(), os.getegid()))
    try:
        fill(spool, size, total)
        facts = SessionFacts("b", "host", "", uuid.uuid4().bytes, 1, int(time.time()))
        address = RelayAddress(HOST, relay.control, relay.data)
        owner = (os.geteuid(), os.getegid())
        sender = RelaySender(SenderPlan(address, facts, str(spool), *owner, ROOM))
        sender.connect()
        used, begin = processor([relay.pid]), time.monotonic()
        sender.start(0, time.time())
        assert sender.flush(SECONDS)
        taken = time.monotonic() - begin
        used = processor([relay.pid]) - used
        sender.end(SECONDS, end=time.time())
    finally:
        shutil.rmtree(spool)
    got = received(relay)
    if got != total // STREAMS // size * size * STREAMS:
        sys.exit(f"the relay daemon has {got} bytes of {total}")
    return got / taken / 1e6, used * 1000 / (got / (1 << 20))


class Consumer:
    """LTTng's session daemon and consumer, with a program.

    Args:
        lttng: They run there.
        program: It records texts.
    """

    def __init__(self, lttng: LttngEnvironment, program: Path) -> None:
        self._lttng, self._program = lttng, program

    def send(self, relay: ChildRelay, size: int, total: int) -> Cost:
        """Record as many bytes, about."""
        assert relay.pid is not None
        urls = [f"--ctrl-url=tcp://{HOST}:{relay.control}"]
        urls.append(f"--data-url=tcp://{HOST}:{relay.data}")
        # All of it has room: where a program waits for that, it sleeps long.
        count = 1 << (2 * total // size).bit_length() - 1
        channel = f"--subbuf-size={size} --num-subbuf={count} --blocking-timeout=inf"
        self._do("create", "b", *urls)
        self._do("enable-channel", "-u", *channel.split(), "c")
        self._do("enable-event", "-u", "-c", "c", "points:*")
        self._do("start")
        used, begin = processor([relay.pid]), time.monotonic()
        words = [str(self._program), str(total // TEXT), str(TEXT)]
        variables = {"LTTNG_UST_ALLOW_BLOCKING": "1"}
        self._lttng.run(words, environment=variables, seconds=SECONDS)
        self._do("stop")
        taken = time.monotonic() - begin
        used = processor([relay.pid]) - used
        self._do("destroy")
        got = received(relay)
        if got < total:
            sys.exit(f"the relay daemon has {got} bytes of {total}")
        return got / taken / 1e6, used * 1000 / (got / (1 << 20))

    def _do(self, *words: str) -> None:
        self._lttng.run(["lttng", *words], seconds=SECONDS)


def rows(job: str, pairs: Sequence[tuple[Cost, Cost]]) -> Iterator[str]:
    """Yield lines of the table: the medians, and what one is of the other."""
    for index, unit in enumerate(("MB/s", "ms/MiB")):
        own, other = (
            statistics.median(one[index] for one in of)
            for of in zip(*pairs, strict=True)
        )
        what = job if index == 0 else f"{job}, CPU"
        yield f"| {what} | {own:.3g} {unit} | {other:.3g} {unit} | {own / other:.2f}x |"


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer runs of less")
    options = parser.parse_args()
    missing = missing_requirement() or missing_relay()
    if missing is not None:
        sys.exit(missing)
    rounds, total = (3, 64 << 20) if options.quick else (7, 128 << 20)
    with tempfile.TemporaryDirectory() as name, LttngEnvironment() as lttng:
        program = Path(name) / "timed_points"
        flags = ["-O2", f"-I{HERE}", "-llttng-ust", "-ldl"]
        run_tool(["gcc", "-o", program, HERE / "timed_points.c", *flags])
        consumer = Consumer(lttng, program)
        print("| | Vestige | LTTng | |\n| --- | ---: | ---: | ---: |")
        with running(OURS) as ours, running(LTTNG) as theirs:
            for whose, send in (("LTTng's", consumer.send), ("our", sent_by_us)):
                for size in SIZES:
                    pairs = [
                        (send(ours, size, total), send(theirs, size, total))
                        for _ in range(rounds)
                    ]
                    job = f"{whose} sender, packets of {size >> 10} KiB"
                    print(*rows(job, pairs), sep="\n", flush=True)
            found = [memory([one.pid or 0]) for one in (ours, theirs)]
            print(f"| memory after that | {found[0]:.0f} MiB | {found[1]:.0f} MiB | |")


if __name__ == "__main__":
    main()
