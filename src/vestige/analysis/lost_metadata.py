"""Directories with data streams that nothing describes: their metadata are not there.

Readers look for metadata, so such a part of a recording is none for them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from .._suppress import suppress
from ..ctf import METADATA, data_file_names
from ..damage import Damage
from ..errors import NotATraceError

__all__ = ["lost_metadata"]

_MAGIC = (b"\xc1\x1f\xfc\xc1", b"\xc1\xfc\x1f\xc1")
"""What packets begin with, in either byte order (CTF 1.8, section 5.1)."""
_MOST_LOOKS = 64
"""Files of a directory that are looked at."""


def lost_metadata(roots: Iterable[Path]) -> Iterator[Damage]:
    """Find directories with data stream files and without metadata.

    Args:
        roots: Where to look: traces, or directories above them.

    Yields:
        A damage for each.
    """
    seen = set()
    for root in roots:
        # What cannot be listed was told when traces were looked for.
        for directory, subdirectories, files in os.walk(root):
            subdirectories[:] = sorted(
                one for one in subdirectories if not one.startswith(".")
            )
            if METADATA in files:
                subdirectories.clear()
                continue
            place = Path(directory)
            if place in seen:
                continue
            seen.add(place)
            names = _data_names(place)
            if any(_begins_a_packet(place / name) for name in names[:_MOST_LOOKS]):
                subdirectories.clear()
                yield _damage(place, len(names))


def _damage(directory: Path, files: int) -> Damage:
    what = "a data stream file" if files == 1 else f"{files:,} data stream files"
    message = f"there is no such file, and nothing else describes {what} beside it"
    path = str(directory / METADATA)
    return Damage(path, None, None, "metadata-missing", message)


def _data_names(directory: Path) -> list[str]:
    with suppress(NotATraceError):
        return [*data_file_names(directory)]
    return []


def _begins_a_packet(path: Path) -> bool:
    # A pipe would keep us waiting.
    with suppress(OSError):
        if path.is_file():
            with path.open("rb") as file:
                return file.read(4) in _MAGIC
    return False
