"""What a daemon that was killed leaves to the next one: a journal of what it keeps.

Its first line is all of that, and each line behind it is a session that was changed
since, or is gone. When these are as long as the first, it is written anew, then takes
the place of the old one: whenever the daemon ends, what is there is whole, but for a
last line that was not answered yet.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from .model import Session

__all__ = ["Left", "Store"]

VERSION = 1
LEAST_BASE = 4096
"""Bytes that the first line counts at least, so that few sessions have lines, too."""


class Left(NamedTuple):
    """What a daemon before this one has left."""

    sessions: Sequence[Session] = ()
    triggers: Sequence[Any] = ()
    """What JSON can say of them."""


class Store:
    """The journal of a daemon.

    Args:
        path: The file; it is for this user alone.
    """

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._written: dict[tuple[int, str], str] = {}
        """What was written of each session: with thousands of them, to describe all
        takes much longer than to write it."""
        self._triggers = ""
        """What was written of them."""
        self._room = 0
        """Bytes that may be added to the file before it is written anew."""

    def write(
        self,
        sessions: Collection[Session],
        triggers: Iterable[str] = (),
        changed: Sequence[Session] | None = None,
    ) -> None:
        """Keep sessions and triggers as they are now.

        Args:
            sessions: All of them.
            triggers: Of each what JSON says of it.
            changed: Those that are not as they were written last; ``None``: all may
                be others.

        Raises:
            OSError: The file cannot be written.
        """
        if changed is None:
            self._written = {_key(one): json.dumps(one.to_json()) for one in sessions}
        for one in changed or ():
            # There may be thousands: all that is done with each takes long.
            if any(one is other for other in sessions):
                self._written[_key(one)] = json.dumps(one.to_json())
            else:
                self._written.pop(_key(one), None)
        before_triggers, self._triggers = self._triggers, f"[{', '.join(triggers)}]"
        if changed is not None and self._triggers == before_triggers:
            lines = "".join(map(self._line, changed))
            # What cannot be added is in the next file that is written anew.
            room, self._room = self._room - len(lines), 0
            if room >= 0:
                # Without the file, there is nothing to add to.
                with suppress(FileNotFoundError):
                    self._append(lines)
                    self._room = room
                    return
        self._write_all()

    def _line(self, changed: Session) -> str:
        """Return what tells of a session that is another now, or is gone."""
        uid, name = _key(changed)
        session = self._written.get((uid, name))
        if session is None:
            return f"\n{json.dumps({'gone': [uid, name]})}"
        return f'\n{{"session": {session}}}'

    def _append(self, lines: str) -> None:
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        with os.fdopen(file, "w") as stream:
            stream.write(lines)

    def _write_all(self) -> None:
        text = (
            f'{{"version": {VERSION}, "sessions": [{", ".join(self._written.values())}]'
            f', "triggers": {self._triggers}}}'
        )
        self._room = 0
        new = self._path.with_suffix(".new")
        with suppress(FileNotFoundError):
            new.unlink()
        file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(file, "w") as stream:
            stream.write(text)
        new.replace(self._path)
        self._room = max(len(text), LEAST_BASE)

    def read(self) -> Left:
        """Return what was kept; nothing if there is nothing, or no more.

        A journal of another user, or one that makes no sense, is none.
        """
        try:
            file = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return Left()
        with os.fdopen(file) as stream:
            if os.fstat(file).st_uid != os.geteuid():
                return Left()
            try:
                first, *lines = stream.read().split("\n")
                kept = json.loads(first)
                if kept["version"] != VERSION:
                    return Left()
                sessions = _joined(kept["sessions"], lines)
                triggers = kept.get("triggers", ())
                return Left(sessions, triggers if isinstance(triggers, list) else ())
            except (ValueError, TypeError, KeyError, AttributeError):
                return Left()

    def remove(self) -> None:
        """Leave nothing: the daemon ends in order."""
        with suppress(FileNotFoundError):
            self._path.unlink()


def _joined(sessions: Iterable[Any], lines: Iterable[str]) -> tuple[Session, ...]:
    """Return sessions as they were, with what was written since."""
    found = [Session.from_json(one) for one in sessions]
    there = {_key(one): one for one in found}
    for line in lines:
        try:
            change = json.loads(line)
        except ValueError:
            # Who wrote it was killed, or had no room, and has not answered.
            continue
        if "gone" in change:
            uid, name = change["gone"]
            there.pop((uid, name), None)
        else:
            session = Session.from_json(change["session"])
            there[_key(session)] = session
    return tuple(there.values())


def _key(session: Session) -> tuple[int, str]:
    return session.uid, session.name
