"""A registered program: its command socket, its notify socket, what it records."""

from __future__ import annotations

import array
import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from ..patience import longest_wait
from . import abi
from .abi import Registration, text
from .fields import EnumLabels, UnknownFieldClassError, field_lines

__all__ = ["Application", "ApplicationError", "receive"]

LISTS = 4
"""How often as long a request for the tracepoints may take: each has an answer."""
INVALID = -22
"""``-EINVAL``, for a program that asks what makes no sense."""
LARGEST_NOTICE = 16 << 20
MOST_TRACEPOINTS = 100_000
AT_ONCE = 32
"""Elements of a list that are asked for at once: their answers fit in a socket."""
MOST_ENUMS, MOST_ENUM_BYTES = 1 << 16, 64 << 20
"""Of a program, without those that are the same."""
HIDDEN = "lttng_ust_tracelog"
NO_ENTRY = -2
"""``-ENOENT``: a list has no more."""


class ApplicationError(Exception):
    """A program does not do as it should, or is gone."""


async def receive(connection: socket.socket, size: int) -> bytes:
    """Return so many bytes.

    Args:
        connection: A socket that does not block.
        size: How many.

    Raises:
        ApplicationError: There are fewer.
    """
    loop = asyncio.get_running_loop()
    parts = []
    while size:
        try:
            part = await loop.sock_recv(connection, min(size, 1 << 20))
        except OSError as error:
            raise ApplicationError(str(error)) from error
        if not part:
            raise ApplicationError("the program closed its socket")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


Payload = bytes | list[int]
"""What follows a command: bytes, or descriptors."""


def _element(raw: bytes, place: int, asked: tuple[int, int]) -> tuple[int, bytes]:
    """Return the error number and the element in an answer to a request for one.

    Raises:
        ApplicationError: It answers another request.
    """
    handle, command, code, _, element = abi.REPLY.unpack_from(raw, place)
    if (handle, command) != asked:
        raise ApplicationError("an answer to something else")
    return code, element


class Application:
    """A program with both of its sockets.

    Args:
        facts: What it says of itself.
        owner: Its process ID and its user, as the kernel says.
        command: The socket of commands.
        notify: The socket on which it asks for IDs of its events.
        channel_of: Returns the buffers of a channel, by the handles of session and
            channel.
    """

    def __init__(
        self,
        facts: Registration,
        owner: tuple[int, int],
        command: socket.socket,
        notify: socket.socket,
        channel_of: Callable[[Application, int, int], Any],
    ) -> None:
        self.facts = facts
        self.pid, self.uid = owner
        self.lock = asyncio.Lock()
        """One command at a time."""
        self._command, self._notify = command, notify
        self._channel_of = channel_of
        self._enums: dict[int, EnumLabels] = {}
        self._enum_numbers: dict[EnumLabels, int] = {}
        self._enum_bytes = 0
        self.sessions: dict[str, Any] = {}
        self.is_gone = False
        self.silent_since: float | None = None
        """When it was asked, or last said something before its answer."""

    @asynccontextmanager
    async def turn(self, times: int = 1) -> AsyncIterator[None]:
        """Have the program for one request.

        A program that takes too long for it is let go, however it divides its time.

        Args:
            times: How often as long as most it may take, with what goes on before.

        Raises:
            ApplicationError: It takes too long.
        """
        seconds = longest_wait(times)
        try:
            async with asyncio.timeout(seconds), self.lock:
                yield
        except TimeoutError:
            self.close()
            raise ApplicationError(f"no end of a request for {seconds} s") from None

    async def ask(
        self,
        handle: int,
        command: int,
        body: bytes = b"",
        *payloads: Payload,
        is_patient: bool = False,
    ) -> tuple[int, int, bytes]:
        """Send a command and wait for its answer.

        Args:
            handle: What it is for; 0 for the program.
            command: Its number.
            body: What it needs.
            payloads: What follows it.
            is_patient: Whether it may take as long as it likes.

        Returns:
            Its code, its value and more of it.

        Raises:
            ApplicationError: The program does not answer, or is gone.
        """
        message = abi.MESSAGE.pack(handle, command, body)
        asked = (handle, command)
        return await self._exchange(asked, message, *payloads, is_patient=is_patient)

    async def _exchange(
        self, asked: tuple[int, int], *payloads: Payload, is_patient: bool = False
    ) -> tuple[int, int, bytes]:
        """Send what a command consists of, and wait for the answer to it."""
        handle, command = asked
        if self.is_gone:
            raise ApplicationError("the program is gone")
        loop = asyncio.get_running_loop()
        self.silent_since = loop.time()
        try:
            async with asyncio.timeout(None if is_patient else longest_wait()):
                for one in payloads:
                    if isinstance(one, bytes):
                        await loop.sock_sendall(self._command, one)
                    else:
                        await self._send_descriptors(one)
                raw = await receive(self._command, abi.REPLY.size)
        except TimeoutError:
            self.close()
            raise ApplicationError(f"no answer to command {command:#x}") from None
        except (OSError, ApplicationError) as error:
            self.close()
            raise ApplicationError(str(error)) from error
        finally:
            self.silent_since = None
        answered, same, code, value, rest = abi.REPLY.unpack(raw)
        if (answered, same) != (handle, command):
            self.close()
            raise ApplicationError("an answer to something else")
        return code, value, rest

    async def _send_descriptors(self, files: list[int]) -> None:
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))]
        while True:
            try:
                self._command.sendmsg([b"\0"], rights)
            except BlockingIOError:
                await asyncio.sleep(0.001)
            else:
                return

    async def do(
        self, handle: int, command: int, body: bytes = b"", *payloads: Payload
    ) -> int:
        """Send a command that must succeed; return its value.

        Args:
            handle: What it is for; 0 for the program.
            command: Its number.
            body: What it needs.
            payloads: What follows it.

        Raises:
            ApplicationError: It did not succeed. Where something followed it, the
                program may wait for more of that: its socket is closed then.
        """
        code, value, _ = await self.ask(handle, command, body, *payloads)
        if code:
            if payloads:
                self.close()
            raise ApplicationError(f"command {command:#x} failed: {code}")
        return value

    async def do_in_two_steps(
        self, handle: int, command: int, body: bytes, payload: Payload
    ) -> int:
        """Send a command whose payload is awaited after a first answer.

        Args:
            handle: What it is for; 0 for the program.
            command: Its number.
            body: What it needs.
            payload: What follows the first answer.

        Returns:
            The value of the second answer.

        Raises:
            ApplicationError: It did not succeed.
        """
        await self.do(handle, command, body)
        code, value, _ = await self._exchange((handle, command), payload)
        if code:
            self.close()
            raise ApplicationError(f"command {command:#x} failed: {code}")
        return value

    async def answer_notices(self) -> None:
        """Answer what the program asks about its events, until it is gone."""
        loop = asyncio.get_running_loop()
        with suppress(ApplicationError, OSError):
            while True:
                raw = await receive(self._notify, abi.NOTIFY_HEAD.size)
                (kind,) = abi.NOTIFY_HEAD.unpack(raw)
                answers = {
                    abi.NOTICE_EVENT: self._event,
                    abi.NOTICE_CHANNEL: self._channel,
                    abi.NOTICE_ENUM: self._enum,
                }
                if kind not in answers:
                    break
                if self.silent_since is not None:
                    self.silent_since = loop.time()
                await loop.sock_sendall(self._notify, await answers[kind]())
        self.close()

    async def _notice(self, size: int) -> bytes:
        if size > LARGEST_NOTICE:
            raise ApplicationError("expected a smaller description")
        return await receive(self._notify, size)

    async def _event(self) -> bytes:
        raw = await self._notice(abi.EVENT_NOTICE.size)
        session, channel, name, level, *sizes = abi.EVENT_NOTICE.unpack(raw)
        _, fields, uri = [await self._notice(size) for size in sizes]
        code, number = INVALID, 0
        buffers = self._channel_of(self, session, channel)
        with suppress(UnknownFieldClassError, struct.error):
            if buffers is not None:
                facts = (text(name), level, fields, self._enums, text(uri))
                number = buffers.event_class(*facts)
                code = 0
        return abi.EVENT_ANSWER.pack(abi.NOTICE_EVENT, code, number)

    async def _channel(self) -> bytes:
        raw = await self._notice(abi.CHANNEL_NOTICE.size)
        session, channel, size = abi.CHANNEL_NOTICE.unpack(raw)
        contexts = await self._notice(size)
        code, number = INVALID, 0
        buffers = self._channel_of(self, session, channel)
        with suppress(UnknownFieldClassError, struct.error):
            if buffers is not None:
                buffers.declare(field_lines(contexts, self._enums))
                code, number = 0, buffers.number
        head = abi.LARGE_HEADER
        return abi.CHANNEL_ANSWER.pack(abi.NOTICE_CHANNEL, code, number, head)

    async def _enum(self) -> bytes:
        raw = await self._notice(abi.ENUM_NOTICE.size)
        session, name, size = abi.ENUM_NOTICE.unpack(raw)
        labels = EnumLabels(text(name), await self._notice(size))
        code, number = INVALID, 0
        if any(one.handle == session for one in self.sessions.values()):
            known = self._enum_number(labels)
            if known is not None:
                code, number = 0, known
        return abi.ENUM_ANSWER.pack(abi.NOTICE_ENUM, code, number)

    def _enum_number(self, labels: EnumLabels) -> int | None:
        """Return the ID of an enumeration; ``None`` if there are too many."""
        number = self._enum_numbers.get(labels)
        if number is None:
            size = self._enum_bytes + len(labels.raw)
            number = len(self._enums)
            if number >= MOST_ENUMS or size > MOST_ENUM_BYTES:
                return None
            self._enum_bytes = size
            self._enums[number] = labels
            self._enum_numbers[labels] = number
        return number

    async def tracepoints(self, *, with_fields: bool) -> list[dict[str, Any]]:
        """Return the tracepoints of the program.

        Args:
            with_fields: Whether their fields are wanted, for which it is asked one by
                one.

        Raises:
            ApplicationError: The program does not answer.
        """
        async with self.turn(LISTS):
            events: dict[str, dict[str, Any]] = {}
            for raw in await self._list(abi.TRACEPOINT_LIST, abi.TRACEPOINT_LIST_GET):
                name, level = abi.TRACEPOINT.unpack_from(raw)
                if not text(name).startswith(HIDDEN):
                    one = {"name": text(name), "level": level, "fields": []}
                    events[text(name)] = one
            if not with_fields:
                return [*events.values()]
            for raw in await self._list(abi.TRACEPOINT_FIELD_LIST, abi.FIELD_LIST_GET):
                of, name, kind, _, hidden = abi.FIELD.unpack_from(raw)
                known = 0 <= kind < len(abi.FIELD_TYPES)
                field = {
                    "name": text(name),
                    "type": abi.FIELD_TYPES[kind if known else 0],
                    "nowrite": bool(hidden),
                }
                # An event without fields has one without a name.
                if text(of) in events and field["name"]:
                    events[text(of)]["fields"].append(field)
        return [*events.values()]

    async def _list(self, command: int, get: int) -> list[bytes]:
        handle = await self.do(0, command)
        found: list[bytes] = []
        while len(found) < MOST_TRACEPOINTS:
            some = await self._ask_many(handle, get)
            found += some
            if len(some) < AT_ONCE:
                break
        await self.do(handle, abi.RELEASE)
        return found

    async def _ask_many(self, handle: int, get: int) -> list[bytes]:
        """Ask for the next elements of a list; there are fewer at its end."""
        loop = asyncio.get_running_loop()
        self.silent_since = loop.time()
        found = []
        has_more = get == abi.FIELD_LIST_GET
        try:
            async with asyncio.timeout(longest_wait()):
                # A turn of both processes for each would take most of the time.
                messages = abi.MESSAGE.pack(handle, get, b"") * AT_ONCE
                await loop.sock_sendall(self._command, messages)
                raw = b""
                if not has_more:
                    raw = await receive(self._command, AT_ONCE * abi.REPLY.size)
                for index in range(AT_ONCE):
                    if has_more:
                        raw = await receive(self._command, abi.REPLY.size)
                    place = 0 if has_more else index * abi.REPLY.size
                    code, rest = _element(raw, place, (handle, get))
                    if code:
                        continue
                    if has_more:
                        # It follows the answer.
                        rest = await receive(self._command, FIELD_ITERATOR_SIZE)
                    found.append(rest)
        except TimeoutError:
            self.close()
            raise ApplicationError(f"no answer to command {get:#x}") from None
        except (OSError, ApplicationError) as error:
            self.close()
            raise ApplicationError(str(error)) from error
        finally:
            self.silent_since = None
        return found

    def close(self) -> None:
        """End the talk: the program goes on without us."""
        self.is_gone = True
        for one in (self._command, self._notify):
            # Whoever waits for it learns that it ended.
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    async def dispose(self) -> None:
        """Close the sockets once nobody waits for them."""
        self.close()
        async with self.lock:
            self._command.close()
            self._notify.close()


FIELD_ITERATOR_SIZE = 256 + 256 + 4 + 4 + 4 + 256 + 28
"""Bytes of a field in a list."""
