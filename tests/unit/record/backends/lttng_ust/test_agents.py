"""Agents register, are told of rules, and cannot do harm."""

from __future__ import annotations

import asyncio
import gc
import os
import random
import socket
import struct
import warnings
from contextlib import suppress

import pytest

from support.agents import PlayedAgent
from vestige.record.backends.lttng_ust import agent, agents
from vestige.record.backends.lttng_ust.agent import AgentPlan
from vestige.record.backends.lttng_ust.agent_protocol import (
    LARGEST_LIST,
    LIST,
    AgentReply,
    LoggerRule,
    enable_command,
    read_agent_registration,
    read_reply,
)
from vestige.record.backends.lttng_ust.agents import Agents
from vestige.record.backends.lttng_ust.loopback import process_users

SECONDS = 60.0
JUL, PYTHON = 3, 5
LIST_COMMAND, ENABLE, DISABLE, REGISTERED, CONTEXT = 1, 2, 3, 4, 5
RULE = LoggerRule("app*", "RANGE", 20, 'logger_name == "app*"')


def run(scenario, tmp_path, ports=(0,)):
    """Run a test with agents that can come, on any port."""

    async def all_of_it():
        known = Agents(str(tmp_path / "agent.port"), ports, lambda *_: False)
        assert await known.open()
        port = int((tmp_path / "agent.port").read_text())

        met = []

        async def meet(domain=PYTHON):
            met.append(await asyncio.to_thread(PlayedAgent, port, domain, os.getpid()))
            return met[-1]

        try:
            await scenario(known, meet)
        finally:
            await known.close()
            for played in met:
                played.socket.close()
        assert not (tmp_path / "agent.port").exists()

    asyncio.run(asyncio.wait_for(all_of_it(), SECONDS))


def test_an_agent_is_told_what_changes(tmp_path):
    """Contexts before rules; a rule of two sessions twice; what is there only once."""

    async def scenario(known, meet):
        await known.apply("s", {"PYTHON": AgentPlan(0, (RULE,))})
        played = await meet()
        command = await asyncio.to_thread(played.command)
        body = struct.pack(">iI", 20, 1) + b"app*".ljust(256, b"\0")
        expression = b'logger_name == "app*"\0'
        body += struct.pack(">I", len(expression)) + expression
        assert command == (ENABLE, body)
        played.answer()
        assert await asyncio.to_thread(played.command) == (REGISTERED, b"")
        plans = {"PYTHON": AgentPlan(0, (RULE,), (("mine", "number"),))}
        for change, numbers in (
            (known.apply("t", plans), (CONTEXT, ENABLE)),
            (known.apply("t", plans), ()),
            (known.apply("s", {"JUL": AgentPlan(0, (RULE,))}), (DISABLE,)),
            (known.apply("t", {}), (DISABLE, CONTEXT + 1)),
        ):
            task = asyncio.create_task(change)
            for number in numbers:
                assert (await asyncio.to_thread(played.command))[0] == number
                played.answer()
            await task

    run(scenario, tmp_path)


def test_an_agent_is_told_of_sessions_that_may_record_its_program(tmp_path):
    """Another user's rules are none of its business."""

    async def scenario(known, meet):
        other = os.getuid() + 1
        await known.apply("s", {"PYTHON": AgentPlan(other, (RULE,))})
        played = await meet()
        assert await asyncio.to_thread(played.command) == (REGISTERED, b"")

    run(scenario, tmp_path)


def test_loggers_are_listed(tmp_path):
    """By domain; an agent that refuses has none, one that is gone is left out."""

    async def scenario(known, meet):
        first, second, java, gone = [
            await meet(one) for one in (PYTHON, PYTHON, JUL, PYTHON)
        ]
        for played in (first, second, java, gone):
            assert await asyncio.to_thread(played.command) == (REGISTERED, b"")
        gone.socket.close()
        task = asyncio.create_task(known.loggers("PYTHON"))
        for played in (first, second):
            assert await asyncio.to_thread(played.command) == (LIST_COMMAND, b"")
        first.answer_loggers(["a", "b.c"])
        second.answer(2)
        assert sorted(await task) == [(os.getpid(), ()), (os.getpid(), ("a", "b.c"))]

    run(scenario, tmp_path)


@pytest.mark.parametrize(
    "raw",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        struct.pack(">4I", 2, 1, 2, 0),
        struct.pack(">4I", PYTHON, 1, 3, 0),
        struct.pack(">4I", PYTHON, 0, 2, 0),
        struct.pack(">4I", PYTHON, 0xFFFFFFFF, 2, 0),
        struct.pack(">4I", PYTHON, os.getpid(), 2, 0) + b"more",
        struct.pack(">4I", PYTHON, 999_999_999, 2, 0),
        b"\xff" * 100_000,
    ],
)
def test_what_is_no_agent_is_let_go(tmp_path, raw):
    """Garbage, other protocols, and process IDs that are not the user's."""

    async def scenario(_, meet):
        played = await meet()
        port = played.socket.getpeername()[1]

        def end():
            with socket.create_connection(("127.0.0.1", port), SECONDS) as one:
                one.sendall(raw)
                try:
                    return one.recv(1)
                except ConnectionError:
                    return b""

        assert await asyncio.to_thread(end) == b""
        # Others are as they were.
        assert await asyncio.to_thread(played.command) == (REGISTERED, b"")

    run(scenario, tmp_path)


@pytest.mark.parametrize(
    "answer",
    [
        None,
        b"\0\0",
        struct.pack(">3I", 1, 0xFFFFFFFF, 1),
        struct.pack(">3I", 1, 3, 0xFFFFFFFF) + b"abc",
        struct.pack(">3I", 1, 3, 1) + b"abc",
        struct.pack(">3I", 1, 3, 1) + b"ab\0more",
    ],
)
def test_a_bad_answer_ends_the_talk_in_time(tmp_path, monkeypatch, answer):
    """None, half of one, lengths that cannot be, too much of it."""
    monkeypatch.setattr(agent, "LONGEST_WAIT", 0.3)

    async def scenario(known, meet):
        good, bad = await meet(), await meet()
        for played in (good, bad):
            assert await asyncio.to_thread(played.command) == (REGISTERED, b"")
        task = asyncio.create_task(known.loggers("PYTHON"))
        for played in (good, bad):
            assert await asyncio.to_thread(played.command) == (LIST_COMMAND, b"")
        good.answer_loggers(["a"])
        if answer is not None:
            bad.socket.sendall(answer)
        assert await task == [(os.getpid(), ("a",))]
        assert await asyncio.to_thread(bad.is_let_go)
        good.socket.close()

    run(scenario, tmp_path)


def test_an_agent_that_dawdles_holds_nobody_for_long(tmp_path, monkeypatch):
    """All answers to a change have one limit, however it divides its time."""
    monkeypatch.setattr(agent, "LONGEST_REQUEST", 2.0)

    async def scenario(known, meet):
        played = await meet()
        assert await asyncio.to_thread(played.command) == (REGISTERED, b"")
        rules = tuple(RULE._replace(name=str(one)) for one in range(100))
        task = asyncio.create_task(known.apply("s", {"PYTHON": AgentPlan(0, rules)}))
        told = 0
        with suppress(AssertionError, ConnectionError):
            while True:
                await asyncio.to_thread(played.command)
                told += 1
                await asyncio.sleep(0.1)
                played.answer()
        await task
        assert 0 < told < len(rules)

    run(scenario, tmp_path)


def test_a_connection_that_says_nothing_is_let_go(tmp_path, monkeypatch):
    """Nor does it help to say a part."""
    monkeypatch.setattr(agent, "LONGEST_WAIT", 0.2)

    async def scenario(_, meet):
        port = (await meet()).socket.getpeername()[1]
        for begin in (b"", b"\0\0\0"):
            silent = socket.create_connection(("127.0.0.1", port), SECONDS)
            silent.sendall(begin)
            assert await asyncio.to_thread(silent.recv, 1) == b""
            silent.close()

    run(scenario, tmp_path)


def test_a_crowd_of_connections_is_bounded(tmp_path, monkeypatch):
    """Those of a user, and all of them; there is room again when they end."""
    monkeypatch.setattr(agents, "MOST_AGENTS", 40)
    monkeypatch.setattr(agents, "MOST_OF_USER", 20)

    async def scenario(_, meet):
        port = (await meet()).socket.getpeername()[1]

        def crowd():
            facts = struct.pack(">4I", PYTHON, os.getpid(), 2, 0)
            served = []
            for _ in range(60):
                one = socket.create_connection(("127.0.0.1", port), SECONDS)
                one.sendall(facts)
                try:
                    if one.recv(16):
                        served.append(one)
                        continue
                except ConnectionError:
                    pass
                one.close()
            for one in served:
                one.close()
            return len(served)

        assert await asyncio.to_thread(crowd) == 19
        again = await meet()
        assert await asyncio.to_thread(again.command) == (REGISTERED, b"")

    run(scenario, tmp_path)


@pytest.mark.parametrize("turns", range(5))
def test_who_comes_at_the_end_is_let_go(tmp_path, turns):
    """However far the event loop had come with the connection."""

    async def scenario():
        known = Agents(str(tmp_path / "agent.port"), (0,), lambda *_: False)
        await known.open()
        port = int((tmp_path / "agent.port").read_text())
        with socket.create_connection(("127.0.0.1", port)) as one:
            for _ in range(turns):
                await asyncio.sleep(0)
            await known.close()
            one.settimeout(SECONDS)
            with suppress(ConnectionError):
                assert one.recv(1) == b""

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        asyncio.run(scenario())
        gc.collect()
    assert [str(one.message) for one in told] == []


def test_the_next_port_is_taken(tmp_path):
    """Of those in use none; without a free one there are no agents, and no file."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]

        async def scenario(_, meet):
            assert (await meet()).socket.getpeername()[1] != taken

        run(scenario, tmp_path, (taken, 0))

        async def without():
            known = Agents(str(tmp_path / "agent.port"), (taken,), lambda *_: False)
            assert not await known.open()
            await known.close()

        asyncio.run(without())
        assert not (tmp_path / "agent.port").exists()


def test_decoders_take_any_bytes():
    """Whatever comes, and in whichever parts, is an answer, no answer or more to come."""
    chosen = random.Random(20261123)  # noqa: S311 - no secret

    def decode(read, parts):
        raw = b""
        for part in parts:
            raw += part
            try:
                found = read(raw)
            except ValueError:
                return ValueError
            if found is not None:
                return found
        return None

    for _ in range(20_000):
        names = [chosen.choice(["", "a", "é.b", "x" * 300]) for _ in range(3)]
        text = b"".join(one.encode() + b"\0" for one in names)
        raw = bytearray(struct.pack(">3I", 1, len(text), len(names)) + text)
        for _ in range(chosen.randrange(3)):
            raw[chosen.randrange(len(raw))] = chosen.randrange(256)
        raw = raw[: chosen.randrange(len(raw) + 1)] if chosen.random() < 0.3 else raw
        number = chosen.choice([LIST, ENABLE, DISABLE])
        whole = decode(lambda raw, n=number: read_reply(n, raw), [bytes(raw)])
        single = decode(
            lambda raw, n=number: read_reply(n, raw), (bytes([one]) for one in raw)
        )
        # In parts, an answer is seen before what follows it.
        assert whole in (single, ValueError)
        for one in (whole, single):
            if isinstance(one, AgentReply):
                assert sum(map(len, one.names)) <= LARGEST_LIST
        head = chosen.randbytes(chosen.randrange(20))
        found = decode(read_agent_registration, [head])
        assert found in (None, ValueError) or found.pid > 0


def test_commands_are_what_one_packet_holds():
    """A longer filter is left to the program; it is no agent's business."""
    long = RULE._replace(filter="x == 1 && " * 10_000 + "y", name="é" * 300)
    body = enable_command(long)[16:]
    assert len(body) == 8 + 256 + 4
    assert body[8 + 255] == 0


def test_users_of_a_process():
    """Nobody where there is no process."""
    assert os.getuid() in process_users(os.getpid())
    assert process_users(999_999_999) == frozenset()
