"""Whatever a program says to the daemon, it is answered or let go, in bounded time."""

from __future__ import annotations

import asyncio
import os
import random
import socket
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import pytest

from support.fuzzing import protocol_seeds
from vestige.record._agreement import AGREEMENT
from vestige.record.backends import patience
from vestige.record.backends.lttng_ust.plan import ChannelPlan, RulePlan, SessionPlan
from vestige.record.backends.registered import program as registered
from vestige.record.backends.registered._agreement import (
    MOST_CHANNELS,
    REGISTRATION_SOCKET,
    Joining,
    Message,
)
from vestige.record.backends.registered.messages import (
    EVENT,
    FIELD,
    HEAD,
    HELLO,
    LARGEST_MESSAGE,
    Hello,
    decode,
    encode,
)
from vestige.record.backends.registered.program import Program, ProgramGoneError
from vestige.record.backends.registered.programs import RegisteredPrograms

SECONDS = 60.0
SEEDS = protocol_seeds()
ROUNDS = 40
NAMES = [b"a:b", b"x" * 600, b"\xff\xfe", b"", b"a\0:b", b"\n"]
NUMBERS = [0, 1, 2, 3, 5, 7, 1 << 16, (1 << 31) - 1, (1 << 32) - 1]
FACTS = Hello(int(AGREEMENT, 16), 4, frozenset(), 7, 64, "program")


def in_time(work: Coroutine[Any, Any, None]) -> None:
    """Run it, for no longer than a test may take."""
    asyncio.run(asyncio.wait_for(work, SECONDS))


def hello() -> bytes:
    """Return what a sound program says first."""
    first, last = FACTS[:2], (FACTS.vpid, FACTS.bits, FACTS.name.encode())
    return encode(Message.HELLO, 0, HELLO.pack(*first, *[0] * MOST_CHANNELS, *last))


def body(chance: random.Random) -> tuple[int, bytes]:
    """Return a kind of message and its contents, mostly of its size."""
    usual = [Message.EVENT, Message.FIELD] * 10
    kind = chance.choice([*usual, *Message, 0, 99])
    name = chance.choice(NAMES)
    if kind == Message.EVENT:
        level = chance.choice([0, 14, -1])
        contents = EVENT.pack(level, chance.randrange(2), name[:512])
    elif kind == Message.FIELD:
        numbers = chance.choice(NUMBERS), chance.choice(NUMBERS)
        contents = FIELD.pack(*numbers, name[:256])
    else:
        contents = chance.randbytes(chance.choice([0, 0, 1, HELLO.size, 3000]))
    return kind, contents[: chance.choice([len(contents)] * 5 + [3])]


def answer(chance: random.Random, generation: int) -> bytes:
    """Return a message of a program; some are none."""
    kind, contents = body(chance)
    status = chance.choice(NUMBERS)
    raw = bytearray(encode(kind, generation, contents, status))
    if chance.random() < 0.02:
        raw[chance.randrange(HEAD.size)] ^= 1 << chance.randrange(8)
    return bytes(raw[: chance.choice([len(raw)] * 40 + [chance.randrange(len(raw))])])


async def with_program(
    work: Callable[[Program, socket.socket], Awaitable[None]],
) -> None:
    """Run something with a program and the other end of its socket."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for one in (ours, its):
        one.setblocking(False)
    program = Program(ours, (7, 0, 0), FACTS)
    reading = asyncio.get_running_loop().create_task(program.read())
    try:
        await work(program, its)
    finally:
        program.close()
        its.close()
        await reading
        program.dispose()


async def answer_wildly(chance: random.Random, its: socket.socket) -> None:
    """Answer each request with anything; end each answer, mostly."""
    loop = asyncio.get_running_loop()
    with suppress(OSError, ValueError):
        while raw := await loop.sock_recv(its, 1 << 16):
            asked = decode(raw)
            for _ in range(chance.randrange(6)):
                await loop.sock_sendall(its, answer(chance, asked.generation))
            if chance.random() < 0.95:
                status = chance.choice(NUMBERS)
                done = encode(Message.DONE, asked.generation, status=status)
                await loop.sock_sendall(its, done)


async def ask_anything(
    chance: random.Random, program: Program, named: list[str]
) -> None:
    """Ask a program a few things; note the events that it names."""
    for _ in range(ROUNDS):
        which = chance.randrange(3)
        if which == 0:
            events = await program.events(with_fields=chance.random() < 0.5)
            named += [one["name"] for one in events]
        elif which == 1:
            assert await program.record("WORDS=1", b"rules") in Joining
        else:
            await program.dump_state(7)


@pytest.mark.parametrize("seed", SEEDS)
def test_answers_of_programs(seed, monkeypatch):
    """What is none lets the program go, and so does one that does not come."""
    monkeypatch.setattr(patience, "LONGEST_WAIT", 0.05)
    chance = random.Random(seed)  # noqa: S311 - no secret
    named: list[str] = []

    async def work(program: Program, its: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        answering = loop.create_task(answer_wildly(chance, its))
        with suppress(ProgramGoneError):
            await ask_anything(chance, program, named)
        program.close()
        await answering

    async def several() -> None:
        for _ in range(10):
            await with_program(work)

    in_time(several())
    assert named
    assert all("\0" not in name for name in named)


@pytest.mark.parametrize("is_asked", [True, False])
def test_a_program_that_never_ends_its_answer(is_asked, monkeypatch):
    """It is let go before it has taken much memory."""
    monkeypatch.setattr(registered, "MOST_BYTES", 1 << 20)
    sent = 0

    async def flood(its: socket.socket) -> None:
        nonlocal sent
        loop = asyncio.get_running_loop()
        raw = encode(Message.EVENT, 1, bytes(LARGEST_MESSAGE - HEAD.size))
        with suppress(OSError):
            while True:
                await loop.sock_sendall(its, raw)
                sent += len(raw)

    async def work(program: Program, its: socket.socket) -> None:
        flooding = asyncio.get_running_loop().create_task(flood(its))
        if is_asked:
            with pytest.raises(ProgramGoneError):
                await program.events(with_fields=True)
        await flooding
        assert program.is_gone

    in_time(with_program(work))
    assert sent < 2 << 20


@pytest.mark.parametrize("seed", SEEDS)
def test_registrations(seed, tmp_path: Path):
    """Others are listed meanwhile, and those that are gone leave nothing."""
    chance = random.Random(seed)  # noqa: S311 - no secret

    async def be_sound(path: str) -> None:
        loop = asyncio.get_running_loop()
        with closing(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)) as its:
            its.setblocking(False)
            await loop.sock_connect(its, path)
            await loop.sock_sendall(its, hello())
            while raw := await loop.sock_recv(its, 1 << 16):
                asked = decode(raw)
                if asked.kind == Message.GO:
                    continue
                event = EVENT.pack(13, 0, b"sound:event")
                await loop.sock_sendall(
                    its, encode(Message.EVENT, asked.generation, event)
                )
                await loop.sock_sendall(its, encode(Message.DONE, asked.generation))

    async def work() -> None:
        programs = RegisteredPrograms(str(tmp_path), "/no/tracer")
        await programs.open()
        path = str(tmp_path / REGISTRATION_SOCKET)
        loop = asyncio.get_running_loop()
        sound = loop.create_task(be_sound(path))
        while not (await programs.list_programs(with_fields=False))[0]:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)
        for _ in range(ROUNDS):
            with closing(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)) as one:
                one.setblocking(False)
                await loop.sock_connect(one, path)
                raw = hello() if chance.random() < 0.5 else answer(chance, 0)
                with suppress(OSError):
                    await loop.sock_sendall(one, raw)
                    await loop.sock_sendall(one, answer(chance, 1))
            listed, _ = await programs.list_programs(with_fields=True)
            names = [event["name"] for one in listed for event in one["events"]]
            assert names == ["sound:event"]
        await programs.close()
        await sound

    in_time(work())


def test_many_that_take_their_time_are_all_served(tmp_path: Path):
    """As when a daemon starts that hundreds of programs wait for."""
    many = 400

    async def work() -> None:
        programs = RegisteredPrograms(str(tmp_path), "/no/tracer")
        await programs.open()
        loop = asyncio.get_running_loop()
        path = str(tmp_path / REGISTRATION_SOCKET)
        with ExitStack() as undo:
            waiting = []
            for _ in range(many):
                one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                undo.enter_context(closing(one))
                one.setblocking(False)
                await loop.sock_connect(one, path)
                waiting.append(one)
            for one in waiting:
                await loop.sock_sendall(one, hello())
            for one in waiting:
                raw = await loop.sock_recv(one, 1 << 16)
                assert decode(raw).kind == Message.GO
        await programs.close()

    in_time(work())


def test_one_that_is_silent_holds_nobody(tmp_path: Path, monkeypatch):
    """A session starts without it, and others are recorded."""
    monkeypatch.setattr(patience, "LONGEST_WAIT", 100 * SECONDS)
    rules = ((RulePlan("*"), True),)
    channel = ChannelPlan("c", 4096, 4, rules=rules)
    where = (str(tmp_path / "out"), str(tmp_path / "rings"))
    ids = (os.getuid(), os.getgid())
    everybody = (None, None, None)
    plan = SessionPlan(
        "s", *ids, 0.0, *where, False, True, False, (channel,), everybody
    )

    async def work() -> None:
        programs = RegisteredPrograms(str(tmp_path), "/no/tracer")
        await programs.open()
        loop = asyncio.get_running_loop()
        with closing(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)) as its:
            its.setblocking(False)
            await loop.sock_connect(its, str(tmp_path / REGISTRATION_SOCKET))
            await loop.sock_sendall(its, hello())
            assert decode(await loop.sock_recv(its, 1 << 16)).kind == Message.GO
            await programs.apply(plan)
            # It was asked, and may still answer.
            assert decode(await loop.sock_recv(its, 1 << 16)).kind == Message.RECORD
        await programs.forget("s")
        await programs.close()

    in_time(work())
