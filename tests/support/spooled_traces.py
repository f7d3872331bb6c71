"""Traces in the directories in memory that are sent to relay daemons."""

from __future__ import annotations

import struct
from pathlib import Path

HEADER = struct.pack(">IIII", 0xC1F1DCC1, 1, 1, 72)


class Trace:
    """A trace that grows in a spool.

    Args:
        spool: The directory.
        path: Where it is in that.
    """

    def __init__(self, spool: Path, path: str = "ust/uid/0/64-bit") -> None:
        self.folder = spool / path
        (self.folder / "index").mkdir(parents=True)
        self.path = path
        self.describe(b"first ")

    def describe(self, raw: bytes, *, is_new: bool = False) -> None:
        """Add to the metadata, or begin them anew."""
        with (self.folder / "metadata").open("wb" if is_new else "ab") as file:
            file.write(raw)

    def clear(self) -> None:
        """Remove all streams."""
        for one in [*self.folder.glob("c_*"), *self.folder.glob("index/*")]:
            one.unlink()

    def add(self, name: str, raw: bytes, content: int | None = None) -> None:
        """Add a packet to a stream."""
        data, index = self.folder / name, self.folder / "index" / f"{name}.idx"
        at = data.stat().st_size if data.exists() else 0
        with data.open("ab") as file:
            file.write(raw)
        bits = len(raw) * 8
        content = bits if content is None else content * 8
        number = at // max(1, len(raw))
        facts = (at, bits, content, 10 * number, 10 * number + 9, 0, 0, 7, number)
        with index.open("ab") as file:
            if file.tell() == 0:
                file.write(HEADER)
            file.write(struct.pack(">9Q", *facts))
