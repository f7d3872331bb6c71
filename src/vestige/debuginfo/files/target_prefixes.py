"""Where directories of the traced machine are found on this one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from ..._typing import NamedTuple

__all__ = ["TargetPrefix", "TargetPrefixes"]


class TargetPrefix(NamedTuple):
    """A directory of the traced machine that is found elsewhere on this one."""

    target: str
    """Its absolute path on the traced machine; ``/`` for everything."""

    host: Path
    """Its path on this machine."""

    @classmethod
    def parse(cls, text: str) -> TargetPrefix:
        """Read a prefix as the command line states it.

        Args:
            text: ``/OLD=NEW``, or a directory that stands for the root directory. Such
                a directory with a ``=`` in its name is written as ``/=DIRECTORY``.

        Returns:
            The prefix.

        Raises:
            ValueError: One of the two is empty, or the first is no absolute path.
        """
        target, sign, host = text.partition("=")
        if not sign:
            target, host = "/", text
        if not target.startswith("/") or not host:
            message = (
                f"'{text}' is neither a directory nor OLD=NEW with an absolute OLD"
            )
            raise ValueError(message)
        return cls(target, Path(host))

    def host_path(self, path: str) -> str | None:
        """Say where a file of the traced machine is on this one.

        Args:
            path: Its absolute path on the traced machine.

        Returns:
            Its path here, as text for people too; ``None`` when it lies elsewhere.
        """
        rest = _below(path, self.target)
        if rest is None:
            return None
        host = str(self.host).rstrip("/")
        return f"{host}/{rest}" if rest else host or "/"

    def target_path(self, path: Path) -> str | None:
        """Say where a file of this machine is on the traced one.

        Args:
            path: Its path here, free of symbolic links.

        Returns:
            Its path there; ``None`` when it lies outside of this prefix.
        """
        root = Path(os.path.realpath(self.host))
        if not path.is_relative_to(root):
            return None
        return str(PurePosixPath(self.target) / path.relative_to(root))


class TargetPrefixes:
    """All prefixes of a search, in order.

    Args:
        prefixes: The prefixes, as pairs of a directory there and one here.
    """

    def __init__(self, prefixes: Sequence[tuple[str, Path]] = ()) -> None:
        self._prefixes = tuple(TargetPrefix(*pair) for pair in prefixes)

    def host_paths(self, path: str) -> list[tuple[str, TargetPrefix | None]]:
        """List the places of a file of the traced machine on this one.

        Args:
            path: Its absolute path on the traced machine.

        Returns:
            A path for each prefix that it lies below; without any, the path itself.
            Never empty.
        """
        places: dict[str, TargetPrefix | None] = {}
        for prefix in self._prefixes:
            place = prefix.host_path(path)
            if place is not None:
                places.setdefault(place, prefix)
        return list(places.items()) or [(path, None)]

    def copies_of(self, directory: Path) -> Iterator[Path]:
        """List where a directory that this machine has too lies on the traced one.

        Args:
            directory: A directory, such as a global debug directory.

        Yields:
            Its places below the prefixes, as far as they exist.
        """
        for prefix in self._prefixes:
            place = prefix.host_path(str(directory))
            if place is not None and os.path.isdir(place):  # noqa: PTH112 - odd names
                yield Path(place)


def _below(path: str, directory: str) -> str | None:
    directory = directory.rstrip("/")
    if path.rstrip("/") == directory:
        return ""
    if not path.startswith(f"{directory}/"):
        return None
    return path[len(directory) :].lstrip("/")
