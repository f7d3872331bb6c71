"""A program has its time and its room, and nothing beyond them."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from vestige.record.backends import patience
from vestige.record.backends.lttng_ust import abi, application, registrations
from vestige.record.backends.lttng_ust.application import Application, ApplicationError
from vestige.record.backends.lttng_ust.clock import Clock
from vestige.record.backends.lttng_ust.programs import Programs

SECONDS = 60.0


def registration(kind, pid=7):
    """Return what a program sends first."""
    facts = (abi.MAGIC, abi.MAJOR, 0, pid, 1, 0, 0, 64, 8, 8, 8, 8, 8, kind)
    return abi.REGISTRATION.pack(*facts, b"program")


@contextmanager
def program():
    """A program with the other ends of its sockets."""
    pairs = [socket.socketpair() for _ in range(2)]
    facts = abi.read_registration(registration(0))
    ours, theirs = zip(*pairs, strict=True)
    for one in ours:
        one.setblocking(False)
    try:
        yield Application(facts, (7, 0), *ours, lambda *_: None), *theirs
    finally:
        for one in (*ours, *theirs):
            one.close()


def reply(command, code=0):
    """Return the answer to a command."""
    return abi.REPLY.pack(1, command, code, 0, b"")


def test_a_program_that_stops_within_a_list_is_let_go(monkeypatch):
    """Its request ends, and so does the wait for it."""
    monkeypatch.setattr(patience, "LONGEST_WAIT", 1.0)
    with program() as (ours, command, _):
        command.sendall(
            abi.REPLY.pack(0, abi.TRACEPOINT_LIST, 0, 1, b"")
            + reply(abi.TRACEPOINT_LIST_GET, -2) * application.AT_ONCE
            + reply(abi.RELEASE)
            + abi.REPLY.pack(0, abi.TRACEPOINT_FIELD_LIST, 0, 1, b"")
            + reply(abi.FIELD_LIST_GET)
        )
        with pytest.raises(ApplicationError, match="no answer to command 0x91"):
            asyncio.run(asyncio.wait_for(ours.tracepoints(with_fields=True), SECONDS))
        assert ours.is_gone


def test_answers_that_come_one_by_one_have_a_limit_together(monkeypatch):
    """Each of them comes in time."""
    monkeypatch.setenv(patience.WAIT_VARIABLE, "2")

    async def drip(ours, command):
        async def answers():
            while True:
                await asyncio.sleep(0.05)
                command.sendall(reply(abi.ENABLE))

        dripping = asyncio.get_running_loop().create_task(answers())
        try:
            async with ours.turn():
                while True:
                    await ours.do(1, abi.ENABLE)
        finally:
            dripping.cancel()

    with program() as (ours, command, _):
        with pytest.raises(ApplicationError, match=r"no end of a request for 2\.0 s"):
            asyncio.run(asyncio.wait_for(drip(ours, command), SECONDS))
        assert ours.is_gone


@pytest.mark.parametrize(
    ("session", "sent", "codes"),
    [(5, [b"a", b"b", b"a"], [(0, 0), (0, 1), (0, 0)]), (6, [b"a"], [(-22, 0)])],
)
def test_enumerations_are_kept_once_and_for_sessions(session, sent, codes):
    """The same one has the same ID."""
    assert answers_to_enums(session, sent) == codes


def test_enumerations_are_bounded(monkeypatch):
    """By their bytes; the same one costs nothing."""
    monkeypatch.setattr(application, "MOST_ENUM_BYTES", 1000)
    sent = [b"a" * 600, b"b" * 600, b"a" * 600, b"c" * 400]
    assert answers_to_enums(5, sent) == [(0, 0), (-22, 0), (0, 0), (0, 1)]


def answers_to_enums(session, sent):
    """Return code and ID of each enumeration that a program with session 5 sends."""

    async def run(ours, notify):
        answering = asyncio.get_running_loop().create_task(ours.answer_notices())
        await asyncio.to_thread(notify.sendall, b"".join(messages))
        with notify.makefile("rb") as file:
            raw = await asyncio.to_thread(file.read, abi.ENUM_ANSWER.size * len(sent))
        notify.shutdown(socket.SHUT_RDWR)
        await answering
        return raw

    messages = [
        abi.NOTIFY_HEAD.pack(abi.NOTICE_ENUM)
        + abi.ENUM_NOTICE.pack(session, b"e", len(labels))
        + labels
        for labels in sent
    ]
    with program() as (ours, _, notify):
        ours.sessions["s"] = SimpleNamespace(handle=5)
        notify.settimeout(SECONDS)
        raw = asyncio.run(asyncio.wait_for(run(ours, notify), SECONDS))
    return [row[1:] for row in abi.ENUM_ANSWER.iter_unpack(raw)]


def test_the_only_socket_of_a_program_that_ended_is_closed(tmp_path, monkeypatch):
    """At once, not after some time."""
    monkeypatch.setattr(registrations, "LONGEST_HALF", 10 * SECONDS)

    async def until(condition):
        async with asyncio.timeout(SECONDS):
            while not condition():  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.01)

    async def run():
        programs = Programs(str(tmp_path / "s"), None, Clock())
        await programs.open()
        with socket.socket(socket.AF_UNIX) as half:
            half.setblocking(False)
            await asyncio.get_running_loop().sock_connect(half, str(tmp_path / "s"))
            half.sendall(registration(1))
            await until(lambda: programs._registrations.half)
            [[(_, connection)]] = [
                one.values() for one in programs._registrations.half.values()
            ]
        await until(lambda: not programs._registrations.half)
        await programs.close()
        return connection.fileno()

    assert asyncio.run(run()) == -1


@pytest.mark.parametrize(
    ("variable", "seconds"),
    [("", 5.0), ("x", 5.0), ("nan", None), ("0", None), ("-1", None), ("2", 2.0)],
)
def test_how_long_programs_are_waited_for_can_be_chosen(monkeypatch, variable, seconds):
    """As for LTTng's daemon."""
    monkeypatch.setenv(patience.WAIT_VARIABLE, variable)
    assert patience.longest_wait() == seconds


def test_the_kernel_tells_processes_apart_that_have_no_id(tmp_path):
    """Each has a number of its own; the same one for all of its sockets."""
    connect = "import socket, sys; s = [socket.socket(socket.AF_UNIX) for _ in '12'];"
    connect += "[one.connect(sys.argv[1]) for one in s]; input()"
    numbers = []
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s"))
        listener.listen()
        for _ in range(2):
            command = [sys.executable, "-c", connect, str(tmp_path / "s")]
            with subprocess.Popen(command, stdin=subprocess.PIPE) as child:
                both = [listener.accept()[0] for _ in range(2)]
                numbers.append([abi.process_number(one) for one in both])
                for one in both:
                    one.close()
                child.communicate(b"\n")
    if numbers == [[0, 0]] * 2:
        pytest.skip("this kernel has no numbers of processes")
    (first, again), (second, _) = numbers
    assert first == again != second != 0
