"""Whatever a program says on its sockets, it is answered or let go, in bounded time."""

from __future__ import annotations

import asyncio
import random
import socket
import struct
from collections.abc import Callable, Coroutine
from contextlib import closing, suppress
from types import SimpleNamespace
from typing import Any

import pytest

from support.fuzzing import protocol_seeds
from vestige.record.backends.lttng_ust import abi
from vestige.record.backends.lttng_ust.application import Application, ApplicationError
from vestige.record.backends.lttng_ust.clock import Clock
from vestige.record.backends.lttng_ust.fields import (
    EnumLabels,
    UnknownFieldClassError,
    field_lines,
)
from vestige.record.backends.lttng_ust.programs import Programs

SECONDS = 60.0
SEEDS = protocol_seeds()
ROUNDS = 40
FIELD_SIZE = 920
NAMES = [b"a", b"_b\0rest", b"x" * 300, b'"\\\n', b"\xff\xfe", b"", b"struct", b"7"]
NUMBERS = [0, 1, 2, 8, 9, 10, 64, 65, 1 << 20, (1 << 31) - 1, 1 << 31, (1 << 32) - 1]


def chance_of(seed: int) -> random.Random:
    """Return what decides."""
    return random.Random(seed)  # noqa: S311 - no secret


def field(chance: random.Random) -> bytes:
    """Return a description of a field, mostly with a known class."""
    raw = bytearray(
        chance.randbytes(FIELD_SIZE) if chance.random() < 0.2 else FIELD_SIZE
    )
    raw[:256] = chance.choice(NAMES)[:256].ljust(256, b"\0")
    struct.pack_into("=i", raw, 256, chance.choice([*range(-1, 14), 1 << 30]))
    numbers = [chance.choice(NUMBERS) for _ in range(6)]
    struct.pack_into("=6I", raw, 260, *numbers)
    return bytes(raw)


def fields(chance: random.Random) -> bytes:
    """Return descriptions of some fields; some are cut."""
    raw = b"".join(field(chance) for _ in range(chance.randrange(6)))
    return raw[: len(raw) - chance.choice([0, 0, 0, 1, 500])]


@pytest.mark.parametrize("seed", SEEDS)
def test_descriptions_of_fields(seed):
    """They become declarations, or are refused."""
    chance = chance_of(seed)
    enums = {number: EnumLabels("e", chance.randbytes(336)) for number in range(3)}
    understood = 0
    for _ in range(ROUNDS * 10):
        with suppress(UnknownFieldClassError, struct.error):
            found = field_lines(fields(chance), enums)
            understood += bool(found)
            assert all("\n" not in one and "\0" not in one for one in found)
    assert understood


def notice(chance: random.Random) -> bytes:
    """Return what a program may ask; some is no question at all."""
    kind = chance.choice([0, 0, 1, 1, 2, 2, 3, 1 << 31])
    name = chance.choice(NAMES)[:256].ljust(256, b"\0")
    contents = [fields(chance) for _ in range(3)]
    sizes = [len(one) for one in contents]
    if chance.random() < 0.2:
        sizes[chance.randrange(3)] = chance.choice(NUMBERS)
    head = abi.NOTIFY_HEAD.pack(kind)
    if kind == 0:
        facts = (chance.choice([5, 6]), 7, name, chance.choice([0, 14, -1]))
        return head + abi.EVENT_NOTICE.pack(*facts, *sizes) + b"".join(contents)
    if kind == 1:
        return head + abi.CHANNEL_NOTICE.pack(5, 7, sizes[0]) + contents[0]
    return head + abi.ENUM_NOTICE.pack(5, name, sizes[0]) + contents[0]


def in_time(work: Coroutine[Any, Any, None]) -> None:
    """Run it, for no longer than a test may take."""
    asyncio.run(asyncio.wait_for(work, SECONDS))


def with_program(
    work: Callable[
        [Application, socket.socket, socket.socket], Coroutine[Any, Any, None]
    ],
) -> None:
    """Run something with a program and the other ends of its sockets."""
    facts = abi.Registration(9, 7, 0, 0, 64, 0, "program")
    buffers = SimpleNamespace(
        number=0,
        declare=lambda _: None,
        event_class=lambda *given: len(field_lines(given[2], given[3])),
    )
    pairs = [socket.socketpair() for _ in range(2)]
    (command, its_command), (notify, its_notify) = pairs
    for one in (command, notify):
        one.setblocking(False)
    ours = Application(facts, (7, 0), command, notify, lambda *_: buffers)
    ours.sessions["s"] = SimpleNamespace(handle=5)
    try:
        in_time(work(ours, its_command, its_notify))
    finally:
        for one in (command, notify, its_command, its_notify):
            one.close()


@pytest.mark.parametrize("seed", SEEDS)
def test_questions_of_programs(seed):
    """Each has an answer of its kind, or ends the talk."""
    chance = chance_of(seed)

    async def work(ours, _, notify):
        answering = asyncio.get_running_loop().create_task(ours.answer_notices())
        for _ in range(ROUNDS):
            with suppress(OSError):
                await asyncio.to_thread(notify.sendall, notice(chance))
            notify.settimeout(0.02)
            with suppress(OSError):
                answer = await asyncio.to_thread(notify.recv, 1 << 16)
                assert not answer or abi.NOTIFY_HEAD.unpack_from(answer)[0] in {0, 1, 2}
            if answering.done():
                break
        notify.close()
        await answering

    for _ in range(5):
        with_program(work)


@pytest.mark.parametrize("seed", SEEDS)
def test_answers_of_programs(seed, monkeypatch):
    """Those to something else, or of half the size, let the program go."""
    monkeypatch.setenv("LTTNG_APP_SOCKET_TIMEOUT", "0.05")
    chance = chance_of(seed)

    async def work(ours, command, _):
        for _ in range(ROUNDS):
            handle, number = chance.choice(NUMBERS), chance.choice(NUMBERS)
            reply = abi.REPLY.pack(
                *(handle, number, chance.choice([0, -22, -2]), 1),
                chance.randbytes(276),
            )
            with suppress(OSError):
                command.send(reply[: chance.choice([len(reply), len(reply), 5])])
            with suppress(ApplicationError):
                async with ours.turn():
                    await ours.ask(handle, number)
            with suppress(ApplicationError):
                await ours.tracepoints(with_fields=True)
        assert ours.is_gone

    with_program(work)


@pytest.mark.parametrize("seed", SEEDS)
def test_registrations(seed, tmp_path):
    """Programs that register in any way leave nothing when they are gone."""
    chance = chance_of(seed)

    def registration() -> bytes:
        kind = chance.choice([0, 0, 1, 1, 2])
        sizes = (8, 8, 8, 8, 8)
        facts = (abi.MAGIC, abi.MAJOR, 0, 7, 1, 0, 0, 64, *sizes, kind)
        raw = bytearray(abi.REGISTRATION.pack(*facts, chance.choice(NAMES)[:16]))
        if chance.random() < 0.3:
            raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
        return bytes(raw[: chance.choice([len(raw), len(raw), 40, 0])])

    async def work():
        programs = Programs(str(tmp_path / "s"), None, Clock())
        await programs.open()
        loop = asyncio.get_running_loop()
        for _ in range(ROUNDS):
            with closing(socket.socket(socket.AF_UNIX)) as one:
                one.setblocking(False)
                await loop.sock_connect(one, str(tmp_path / "s"))
                with suppress(OSError):
                    await loop.sock_sendall(one, registration())
        half = programs._registrations.half
        while half or programs._applications or programs._listener.is_serving:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)
        await programs.close()

    in_time(work())
