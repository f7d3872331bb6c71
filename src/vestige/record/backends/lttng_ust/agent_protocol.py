"""The messages between agents of logging libraries and a session daemon, protocol 2.0.

An agent registers over TCP and then answers commands, one by one. All numbers are
big-endian.
"""

from __future__ import annotations

import struct

from ...._typing import NamedTuple

__all__ = [
    "DOMAINS",
    "AgentRegistration",
    "AgentReply",
    "LoggerRule",
    "app_context_command",
    "disable_command",
    "enable_command",
    "list_command",
    "read_agent_registration",
    "read_reply",
    "registered_command",
]

MAJOR = 2
DOMAINS = {3: "JUL", 4: "LOG4J", 5: "PYTHON"}
REGISTRATION = struct.Struct(">4I")
COMMAND = struct.Struct(">QII")
LEVEL = struct.Struct(">iI")
SIZE = struct.Struct(">I")
LIST_HEAD = struct.Struct(">3I")
LIST, ENABLE, DISABLE, REGISTERED = 1, 2, 3, 4
ENABLE_CONTEXT, DISABLE_CONTEXT = 5, 6
SUCCESS = 1
LEVEL_TYPES = {"ALL": 0, "RANGE": 1, "SINGLE": 2}
NAME_SIZE = 256
LONGEST_FILTER = 32768
"""Bytes of a filter that an agent is sent; it reads a command from one packet."""
LARGEST_LIST = 4 << 20
"""Bytes of the names of loggers."""


class AgentRegistration(NamedTuple):
    """What an agent says of itself."""

    domain: str
    """``JUL``, ``LOG4J`` or ``PYTHON``."""

    pid: int


class AgentReply(NamedTuple):
    """What an agent answers."""

    is_done: bool
    names: tuple[str, ...] = ()
    """The loggers, if they were asked for."""


class LoggerRule(NamedTuple):
    """A recording event rule as an agent takes it."""

    name: str
    """The pattern of names of loggers."""

    level_type: str
    level: int
    filter: str
    """The expression with all conditions; empty for none."""


def read_agent_registration(raw: bytes) -> AgentRegistration | None:
    """Return what an agent says when it connects; ``None`` if more is to come.

    Args:
        raw: What came so far.

    Raises:
        ValueError: It is no agent of this protocol.
    """
    if len(raw) < REGISTRATION.size:
        return None
    domain, pid, major, _ = REGISTRATION.unpack_from(raw)
    if domain not in DOMAINS or major != MAJOR or not 0 < pid < 1 << 31:
        raise ValueError(f"expected an agent of protocol {MAJOR}")
    if len(raw) > REGISTRATION.size:
        raise ValueError("expected nothing after a registration")
    return AgentRegistration(DOMAINS[domain], pid)


def read_reply(command: int, raw: bytes) -> AgentReply | None:
    """Return what an agent answers; ``None`` if more is to come.

    Args:
        command: The number of what it answers.
        raw: What came so far.

    Raises:
        ValueError: It is no answer.
    """
    if len(raw) < SIZE.size:
        return None
    (status,) = SIZE.unpack_from(raw)
    if command != LIST or status != SUCCESS:
        if len(raw) > SIZE.size:
            raise ValueError("expected nothing after an answer")
        return AgentReply(status == SUCCESS)
    if len(raw) < LIST_HEAD.size:
        return None
    _, size, count = LIST_HEAD.unpack_from(raw)
    if size > LARGEST_LIST or count > size:
        raise ValueError(f"expected up to {LARGEST_LIST:,} bytes of names")
    end = LIST_HEAD.size + size
    if len(raw) < end:
        return None
    names = raw[LIST_HEAD.size : end].split(b"\0")
    if len(raw) > end or names.pop() or len(names) != count:
        raise ValueError("expected as many names as were announced")
    return AgentReply(True, tuple(one.decode(errors="replace") for one in names))  # noqa: FBT003 - a field


def list_command() -> bytes:
    """Return the command that asks for the loggers."""
    return _command(LIST)


def registered_command() -> bytes:
    """Return the command that ends a registration; it has no answer."""
    return _command(REGISTERED)


def enable_command(rule: LoggerRule) -> bytes:
    """Return the command that lets loggers emit.

    Args:
        rule: Which, and under which conditions.
    """
    expression = rule.filter.encode(errors="replace")
    if expression:
        expression += b"\0"
    if len(expression) > LONGEST_FILTER:
        expression = b""
    head = LEVEL.pack(rule.level, LEVEL_TYPES[rule.level_type])
    return _command(
        ENABLE, head + _name(rule.name) + SIZE.pack(len(expression)) + expression
    )


def disable_command(name: str) -> bytes:
    """Return the command that takes one :func:`enable_command` back.

    Args:
        name: The pattern of that.
    """
    return _command(DISABLE, _name(name))


def app_context_command(provider: str, name: str, *, is_enabled: bool) -> bytes:
    """Return the command that lets a program fill a context in, or no longer.

    Args:
        provider: Who knows it, without ``$app.``.
        name: Its name there.
        is_enabled: Whether it is filled in.
    """
    texts = (one.encode(errors="replace") + b"\0" for one in (provider, name))
    body = b"".join(SIZE.pack(len(one)) + one for one in texts)
    return _command(ENABLE_CONTEXT if is_enabled else DISABLE_CONTEXT, body)


def _command(number: int, body: bytes = b"") -> bytes:
    return COMMAND.pack(len(body), number, 0) + body


def _name(name: str) -> bytes:
    return name.encode(errors="replace")[: NAME_SIZE - 1].ljust(NAME_SIZE, b"\0")
