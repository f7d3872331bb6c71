"""Plans that were made before, by the build ID of the object.

The cache is a directory with a file for each plan, which is written under a temporary
name and renamed. It is used only if nobody but its owner could have written to it,
since what is in it becomes code in a program. Any of it may be deleted at any time.
"""

from __future__ import annotations

import os
import time
import zlib

from ...._suppress import suppress
from ...._typing import TYPE_CHECKING
from ....cache_folder import (
    ABANDONED_AFTER,
    CACHE_SIZE_VARIABLE,
    TEMPORARY,
    cache_directory,
    write_whole,
)
from .object_plan import ObjectPlan

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["PlanCache"]

FOLDER = "plans-1"
LARGEST = 64 << 20
"""Bytes that the cache may have, unless the environment allows fewer."""
LARGEST_ENTRY = 32 << 20
"""What is larger is planned each time."""
OTHERS_MAY_WRITE = 0o022
KIND_OF_FILE, REGULAR = 0o170000, 0o100000
"""``S_IFMT`` and ``S_IFREG`` of inode(7)."""
HEAD = b"VESTIGE PLANS 1"


class PlanCache:
    """Plans in a directory of bounded size.

    Args:
        directory: Where it is; need not exist. ``None``: there is no cache.
        limit: How large it may become, in bytes; 0: there is no cache.
    """

    def __init__(self, directory: str | None, limit: int = LARGEST) -> None:
        self._directory = (
            os.path.join(directory, FOLDER) if directory and limit else None
        )
        self._limit = limit

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> PlanCache:
        """Take directory and limit from where the symbol cache has its own.

        Args:
            environment: The variables.

        Returns:
            The cache.
        """
        directory = cache_directory(environment)
        text = environment.get(CACHE_SIZE_VARIABLE, "")
        if not text.strip():
            return cls(directory)
        # Few people set it.
        from ....debuginfo import parse_size  # noqa: PLC0415 - see above

        limit = parse_size(text)
        return cls(directory, LARGEST if limit is None else min(limit, LARGEST))

    def find(self, name: str, facts: str | Callable[[str], bool]) -> ObjectPlan | None:
        """Return what is kept under a name.

        Args:
            name: Of the entry: a build ID, and what was planned.
            facts: What the plan was made of, or whether a text says so; with another
                one it is out of date.

        Returns:
            The plan, or ``None``.
        """
        if self._directory is None or not _is_own(self._directory):
            return None
        path = os.path.join(self._directory, name)
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            with open(handle, "rb") as file:
                status = os.fstat(handle)
                if not _is_trusted(status) or status.st_size > LARGEST_ENTRY:
                    return None
                data = file.read(LARGEST_ENTRY)
            found = _decoded(data, facts)
        except (OSError, ValueError):
            return None
        if found is not None:
            with suppress(OSError):
                os.utime(path)
        return found

    def keep(self, name: str, facts: str, plan: ObjectPlan) -> None:
        """Keep a plan; what cannot be written is no error.

        Args:
            name: Of the entry.
            facts: What the plan was made of.
            plan: The plan.
        """
        folder = self._directory
        if folder is None:
            return
        data = _encoded(plan, facts)
        if len(data) > min(self._limit, LARGEST_ENTRY):
            return
        with suppress(OSError):
            os.makedirs(folder, mode=0o700, exist_ok=True)
            if _is_own(folder):
                write_whole(folder, name, data)
                _shrink(folder, self._limit)


def _shrink(folder: str, limit: int) -> None:
    """Delete what was used longest ago until the rest is small enough."""
    found = []
    with os.scandir(folder) as entries:
        for one in entries:
            # Another recording may delete it at the same time.
            with suppress(OSError):
                status = one.stat(follow_symlinks=False)
                used, size = status.st_mtime, status.st_size
                if not one.name.startswith(TEMPORARY):
                    found.append((used, size, one.path))
                elif time.time() - used > ABANDONED_AFTER:
                    os.unlink(one.path)
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= limit:
            break
        with suppress(OSError):
            os.unlink(path)
        total -= size


def _is_own(directory: str) -> bool:
    try:
        status = os.stat(directory)
    except OSError:
        return False
    return status.st_uid == os.geteuid() and not status.st_mode & OTHERS_MAY_WRITE


def _is_trusted(status: os.stat_result) -> bool:
    is_regular = status.st_mode & KIND_OF_FILE == REGULAR
    return (
        is_regular
        and status.st_uid == os.geteuid()
        and not status.st_mode & OTHERS_MAY_WRITE
    )


def _encoded(plan: ObjectPlan, facts: str) -> bytes:
    numbers = f"{plan.functions} {plan.left} {len(plan.plan)}"
    texts = [facts, plan.build_id, plan.refusal, numbers, ""]
    rest = "\n".join(texts).encode(errors="surrogateescape") + plan.plan + plan.rows
    return b"%s\n%d\n%s" % (HEAD, zlib.crc32(rest), rest)


def _decoded(data: bytes, facts: str | Callable[[str], bool]) -> ObjectPlan | None:
    """Return a plan; ``None`` if it is of something else.

    Raises:
        ValueError: The entry is damaged.
    """
    head, digest, rest = data.split(b"\n", 2)
    if head != HEAD or digest != b"%d" % zlib.crc32(rest):
        return None
    made_of, build_id, refusal, numbers, content = rest.split(b"\n", 4)
    known = made_of.decode(errors="surrogateescape")
    if not (known == facts if isinstance(facts, str) else facts(known)):
        return None
    functions, left, size = map(int, numbers.split())
    parts = content[:size], content[size:]
    return ObjectPlan(build_id.decode(), refusal.decode(), functions, left, *parts)
