"""A program that has registered: what it is asked, and what it answers."""

from __future__ import annotations

import array
import asyncio
import os
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..patience import longest_wait
from ._agreement import Joining, Message
from .messages import (
    EVENT,
    FIELD,
    LARGEST_MESSAGE,
    RECORD,
    STOP,
    Hello,
    Received,
    decode,
    encode,
    text,
)

if TYPE_CHECKING:
    from .watches import EncodedWatches

__all__ = ["Program", "ProgramGoneError"]

MOST_MESSAGES, MOST_BYTES = 100_000, 32 << 20
"""Of one answer."""
FIELD_TYPES = ("integer", "float", "string", "unknown", "unknown", "enum")
"""As lists have them, by ``enum vestige_field_kind``."""
NOT_WRITTEN = 1 << 4
"""Of a field's flags."""


class ProgramGoneError(Exception):
    """A program has ended, does not answer, or says what it must not."""


class Program:
    """A program and its connection.

    Args:
        connection: To the program; it does not block.
        credentials: Its process ID, user and group, as the kernel says.
        hello: What it says of itself.
    """

    def __init__(
        self,
        connection: socket.socket,
        credentials: tuple[int, int, int],
        hello: Hello,
    ) -> None:
        self._connection = connection
        self.pid, self.uid, self.gid = credentials
        self.hello = hello
        self.recorded: dict[tuple[str, str], int] = {}
        """By sessions and channels: the inodes of the memories that it records to."""

        self.known: set[int] = set()
        """Those to which it has ever recorded, and told what is loaded."""

        self.is_welcomed = False
        """Whether it records what it was told, and to no memory from before."""

        self.is_gone = False
        self.silent_since: float | None = None
        """When it was asked, or last said something before the end of its answer."""
        self._generation = 0
        self._lock = asyncio.Lock()
        self._dumps_to_come: set[int] = set()
        """The memories to which it will be asked to describe its state."""
        self._answers: asyncio.Queue[Received | None] = asyncio.Queue()
        self._is_asked = False
        self._answer_size = 0

    @property
    def vpid(self) -> int:
        """Its process ID, as it sees it."""
        return self.hello.vpid

    def command(self) -> str:
        """Return the first word of its command line."""
        try:
            raw = Path(f"/proc/{self.pid}/cmdline").read_bytes()
        except OSError:
            raw = b""
        return raw.split(b"\0", 1)[0].decode(errors="replace") or self.hello.name

    async def read(self) -> None:
        """Take what it says, until it is gone.

        It speaks only when it is asked: one that says more is let go.
        """
        loop = asyncio.get_running_loop()
        with suppress(OSError, ValueError):
            while raw := await loop.sock_recv(self._connection, LARGEST_MESSAGE):
                self._answer_size += len(raw)
                is_too_much = (
                    self._answers.qsize() > MOST_MESSAGES
                    or self._answer_size > MOST_BYTES
                )
                if is_too_much or not self._is_asked:
                    break
                self._answers.put_nowait(decode(raw))
        self.close()

    async def record(self, words: str, rules: bytes, replaced: int = 0) -> Joining:
        """Tell it what to record; return what it says to that.

        Args:
            words: The words of the recording.
            rules: Its rules.
            replaced: The inode of a memory to which it records nothing more from then
                on, so that no event is in both; 0 for none.

        Raises:
            ProgramGoneError: It does not answer.
        """
        raw = os.fsencode(words)
        file = os.memfd_create("vestige-rules", os.MFD_CLOEXEC)
        try:
            os.pwrite(file, rules, 0)
            body = RECORD.pack(len(raw), len(rules)) + raw
            half = replaced & 0xFFFF_FFFF
            answer = await self._ask(Message.RECORD, body, status=half, files=(file,))
        finally:
            os.close(file)
        with suppress(ValueError):
            return Joining(answer[-1].status)
        return Joining.FAILED

    async def watch(self, watches: EncodedWatches, *files: int) -> bool:
        """Let it tell of events that match rules of triggers.

        Args:
            watches: All of them.
            files: With the first ones, a pipe for matches and memory for counters.

        Returns:
            Whether it has room for all of them.

        Raises:
            ProgramGoneError: It does not answer.
        """
        file = os.memfd_create("vestige-watches", os.MFD_CLOEXEC)
        try:
            os.pwrite(file, watches.file, 0)
            files = (file, *files)
            answer = await self._ask(Message.WATCH, watches.message, files=files)
        finally:
            os.close(file)
        return bool(answer) and answer[-1].status == Joining.DONE

    async def stop(self, arena: int) -> None:
        """Let it record nothing more to a memory.

        Args:
            arena: The inode of that.

        Raises:
            ProgramGoneError: It does not answer.
        """
        await self._ask(Message.STOP, STOP.pack(arena))

    async def dump_state(self, arena: int) -> None:
        """Let it describe its state once more.

        Args:
            arena: The inode of the memory where it is to be told.

        Raises:
            ProgramGoneError: It does not answer.
        """
        await self._ask(Message.DUMP, STOP.pack(arena))

    async def dump_state_some_time(self, arena: int) -> None:
        """Let it describe its state once more, when it has answered all else.

        It may take as long as it likes. What it is yet to be asked is asked once: the
        answer is that of later.

        Args:
            arena: The inode of the memory where it is to be told.

        Raises:
            ProgramGoneError: It has ended.
        """
        if arena in self._dumps_to_come:
            return
        self._dumps_to_come.add(arena)
        try:
            # From its turn on, the answer may be that of before.
            await self._ask(
                Message.DUMP,
                STOP.pack(arena),
                patiently=lambda: self._dumps_to_come.discard(arena),
            )
        finally:
            self._dumps_to_come.discard(arena)

    def let_begin(self) -> None:
        """Let the program begin, which waited for what to record."""
        with suppress(OSError):
            self._connection.send(encode(Message.GO, self._generation))

    async def events(self, *, with_fields: bool) -> list[dict[str, Any]]:
        """Return its events, by name; those with the same name once.

        Args:
            with_fields: Whether their fields are wanted.

        Raises:
            ProgramGoneError: It does not answer.
        """
        found: dict[str, dict[str, Any]] = {}
        fields: list[dict[str, Any]] = []
        for one in await self._ask(Message.LIST, status=int(with_fields)):
            if one.kind == Message.EVENT and len(one.body) == EVENT.size:
                level, _, name = EVENT.unpack(one.body)
                fields = []
                facts = {"name": text(name), "level": level, "fields": fields}
                found.setdefault(text(name), facts)
            elif one.kind == Message.FIELD and len(one.body) == FIELD.size:
                kind, flags, name = FIELD.unpack(one.body)
                known = kind if kind < len(FIELD_TYPES) else 3
                fields.append(
                    {
                        "name": text(name),
                        "type": FIELD_TYPES[known],
                        "nowrite": bool(flags & NOT_WRITTEN),
                    }
                )
        return [*found.values()]

    async def _ask(
        self,
        kind: Message,
        body: bytes = b"",
        *,
        status: int = 0,
        files: Sequence[int] = (),
        patiently: Callable[[], None] | None = None,
    ) -> list[Received]:
        """Ask, and wait for the answer; return all messages of it.

        With `patiently`, it may take as long as it likes; that is called at its turn.
        """
        patience = longest_wait() if patiently is None else None
        try:
            async with asyncio.timeout(patience), self._lock:
                if patiently is not None:
                    patiently()
                try:
                    return await self._answer(kind, body, status, files)
                finally:
                    self.silent_since = None
        except TimeoutError:
            self.close()
            raise ProgramGoneError(f"no answer for {patience:g} s") from None
        except OSError as error:
            self.close()
            raise ProgramGoneError(str(error)) from error

    async def _answer(
        self, kind: Message, body: bytes, status: int, files: Sequence[int]
    ) -> list[Received]:
        if self.is_gone:
            raise ProgramGoneError("it has ended")
        self._generation += 1
        self._answer_size = 0
        self._is_asked = True
        rights = []
        if files:
            sent = array.array("i", files)
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, sent)]
        # It reads all that it is sent: one whose socket is full does not.
        message = encode(kind, self._generation, body, status)
        self._connection.sendmsg([message], rights)
        found: list[Received] = []
        loop = asyncio.get_running_loop()
        while True:
            self.silent_since = loop.time()
            one = await self._answers.get()
            if one is None or one.generation != self._generation:
                self.close()
                raise ProgramGoneError("it has ended, or answers something else")
            found.append(one)
            if one.kind == Message.DONE:
                self._is_asked = False
                return found

    def close(self) -> None:
        """End the talk: the program goes on without us."""
        if not self.is_gone:
            self.is_gone = True
            self._answers.put_nowait(None)
            with suppress(OSError):
                self._connection.shutdown(socket.SHUT_RDWR)

    def dispose(self) -> None:
        """Close the connection, once nobody reads from it."""
        self.close()
        self._connection.close()
