"""What a daemon that was killed leaves to the next one: a journal of what it keeps.

It is written anew after each change, then takes the place of the old one: whenever the
daemon ends, what is there is whole.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from .model import Session

__all__ = ["Left", "Store"]

VERSION = 1


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

    def write(
        self,
        sessions: Iterable[Session],
        triggers: Iterable[dict[str, Any]] = (),
        changed: Sequence[Session] | None = None,
    ) -> None:
        """Keep sessions and triggers as they are now.

        Args:
            sessions: All of them.
            triggers: What JSON can say of them.
            changed: Those that are not as they were written last; ``None``: all may
                be others.

        Raises:
            OSError: The file cannot be written.
        """
        before = {} if changed is None else self._written
        for one in changed or ():
            before.pop(_key(one), None)
        self._written = {
            _key(one): before.get(_key(one)) or json.dumps(one.to_json())
            for one in sessions
        }
        text = (
            f'{{"version": {VERSION}, "sessions": [{", ".join(self._written.values())}]'
            f', "triggers": {json.dumps([*triggers])}}}'
        )
        new = self._path.with_suffix(".new")
        with suppress(FileNotFoundError):
            new.unlink()
        file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(file, "w") as stream:
            stream.write(text)
        new.replace(self._path)

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
                kept = json.load(stream)
                if kept["version"] != VERSION:
                    return Left()
                sessions = tuple(Session.from_json(one) for one in kept["sessions"])
                triggers = kept.get("triggers", ())
                return Left(sessions, triggers if isinstance(triggers, list) else ())
            except (ValueError, TypeError, KeyError, AttributeError):
                return Left()

    def remove(self) -> None:
        """Leave nothing: the daemon ends in order."""
        with suppress(FileNotFoundError):
            self._path.unlink()


def _key(session: Session) -> tuple[int, str]:
    return session.uid, session.name
