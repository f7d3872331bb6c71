"""The process that records the kernel: it alone has the rights, and it tidies up.

Whoever records starts it and talks to it in lines of JSON: what is wanted; which
threads are left out, to start; more of these; and anything else to stop. The end of the
lines is to stop, too: a recorder that was killed leaves a whole trace and nothing in
tracefs. Pages are read by a child of it without any rights.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import sys
import time
from contextlib import suppress
from typing import Any

from ..._collector import counter
from ..._kernel import collect, drop_rights
from .channel import Channel
from .probes import remove_abandoned
from .tracefs import NoKernelTracerError, Tracefs
from .urgency import go_first
from .wanted import Wanted

__all__ = ["main"]


def main() -> None:
    """Do what the line asks for."""
    wanted = Wanted.from_json(json.loads(sys.stdin.readline()))
    os.chdir("/")
    try:
        tracefs = Tracefs()
    except NoKernelTracerError as error:
        _answer(refused=str(error))
        return
    try:
        _record(tracefs, wanted)
    finally:
        tracefs.close()


def _record(tracefs: Tracefs, wanted: Wanted) -> None:
    removed = tracefs.remove_abandoned() + remove_abandoned(tracefs)
    try:
        channel = Channel(tracefs, wanted, wanted.channels[0])
    except NoKernelTracerError as error:
        _answer(refused=str(error))
        return
    except OSError as error:
        _answer(refused=f"{error.strerror}: {error.filename}")
        return
    try:
        _answer(ready=channel.problems, removed=removed)
        if line := sys.stdin.readline():
            _collect(channel, wanted, json.loads(line)["left_out"])
    finally:
        channel.close()


def _collect(channel: Channel, wanted: Wanted, left_out: list[int]) -> None:
    now = counter if wanted.clock.is_counter else time.monotonic_ns
    channel.start(now, left_out)
    mine, control = socket.socketpair()
    results, answer = os.pipe()
    child = os.fork()
    if child == 0:
        _collect_and_end(channel, wanted, control.detach(), answer)
    control.close()
    os.close(answer)
    channel.close_files()
    # It comes once all threads are there.
    mine.recv(1)
    channel.let_children_be_recorded()
    _answer(started=True)
    while "left_out" in (said := json.loads(sys.stdin.readline() or "{}")):
        channel.leave_out(said["left_out"])
    channel.stop()
    with suppress(OSError):
        mine.sendall(struct.pack("<Q", now()))
    with os.fdopen(results, "rb") as file:
        found = file.read()
    os.waitpid(child, 0)
    _answer(stopped=json.loads(found) if found else None)


def _collect_and_end(
    channel: Channel, wanted: Wanted, control: int, answer: int
) -> None:
    """Read pages until it ends, as a process without rights; it does not come back."""
    try:
        # What says to others that this process is there, and what has rights.
        _close_all_but({control, answer, *channel.descriptors()})
        go_first()
        drop_rights(wanted.user, wanted.group)
        outcomes = collect(*channel.to_collect(), control)
        facts = [
            {
                "records": one.records,
                "lost": one.lost,
                "packets": one.packets,
                "bytes": one.bytes,
                "damaged": one.damaged,
                "failure": one.failure,
            }
            for one in outcomes
        ]
        os.write(answer, json.dumps(facts).encode())
    finally:
        os._exit(0)


def _close_all_but(kept: set[int]) -> None:
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        if descriptor not in kept:
            # That of the directory is closed by now.
            with suppress(OSError):
                os.close(descriptor)


def _answer(**facts: Any) -> None:
    """Say something, to somebody who may have been killed."""
    with suppress(BrokenPipeError):
        sys.stdout.write(json.dumps(facts) + "\n")
        sys.stdout.flush()
