"""Messages of a kernel, as ``dmesg`` prints them: ``source.text.dmesg``."""

from __future__ import annotations

import json
import os
import select
import stat
import sys
from collections.abc import Collection, Iterator, Sequence

from ... import core
from ..._typing import TYPE_CHECKING
from ...damage import Damage
from ...errors import GraphError
from ...graph.growing import Arrival, Feed
from ...graph.stream import Stream, TraceInfo
from .dmesg_line import DmesgLine, parsed_line

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from ...graph.plan import ComponentSpec

__all__ = ["DmesgSource", "make_dmesg"]

PIECE_BYTES = 1 << 20
"""How much is read at once."""
LONGEST_LINE = 1 << 20
"""Where a line is cut that does not end: the kernel has none as long."""
PACKET_BYTES = 1 << 18
LATEST = (1 << 63) - 1
"""The last time that readers can show, nanoseconds."""

CLOCK = "dmesg"
FREQUENCY = 1_000_000_000
"""Ticks of its clock in a second."""
WITHOUT_PACKETS = {"vestige": {"supports_packets": False}}
"""What tells that its packets are a matter of how lines are kept."""


class DmesgSource(Feed):
    """Reads lines, each of which is an event.

    Whether events have times is decided by the first line that is not empty.

    Args:
        path: The file; standard input if ``None``.
        reads_times: Whether what a line begins with may be its time.
        index: Index of its trace.

    Raises:
        GraphError: That is no regular file.
    """

    def __init__(self, path: str | None, *, reads_times: bool, index: int) -> None:
        super().__init__("standard input" if path is None else path)
        self.roots: list[Path] = []
        """No directory: nothing is packed with text."""
        self.directories: list[Path] = []
        """Likewise."""
        self._name = "STDIN" if path is None else os.path.basename(path)  # noqa: PTH119 - the path is text
        self._descriptor = sys.stdin.fileno() if path is None else _opened(path)
        self._is_own = path is not None
        self._reads_times = reads_times
        self._index = index
        self._rest = b""
        self._offset = 0
        self._last = 0
        self._encoder: _Encoder | None = None

    def close(self) -> None:
        """Close the file."""
        if self._is_own:
            self._is_own = False
            os.close(self._descriptor)

    def poll(self, hungry: Collection[Stream]) -> Arrival:
        """Read what is there, if it is needed.

        Args:
            hungry: The data stream, when nothing is left of it.

        Raises:
            OSError: It cannot be read.
        """
        arrival = Arrival()
        if self.streams and not hungry:
            return arrival
        ready, _, _ = select.select([self._descriptor], [], [], 0)
        if not ready:
            return arrival
        data = os.read(self._descriptor, PIECE_BYTES)
        lines = [*self._lines(data)]
        if lines:
            self._give(lines, arrival)
        if not data:
            arrival.is_end = True
            self.close()
        return arrival

    def _lines(self, data: bytes) -> Iterator[tuple[int, DmesgLine]]:
        """Yield the lines that are whole, with the offsets at which they begin."""
        self._rest += data
        *whole, self._rest = self._rest.split(b"\n")
        if not data or len(self._rest) > LONGEST_LINE:
            whole.append(self._rest)
            self._rest = b""
        for line in whole:
            if line.strip():
                yield self._offset, parsed_line(line, reads_time=self._reads_times)
            self._offset += len(line) + 1

    def _give(self, lines: Sequence[tuple[int, DmesgLine]], arrival: Arrival) -> None:
        if self._encoder is None:
            _, first = lines[0]
            self._encoder = _Encoder(
                self._name, self._index, has_times=first.time is not None
            )
            arrival.streams.append(self._encoder.stream)
            self.streams.append(self._encoder.stream)
        timed = [self._time(offset, line, arrival) for offset, line in lines]
        part = self._encoder.part(timed)
        arrival.parts.append((self._encoder.stream, part))

    def _time(self, offset: int, line: DmesgLine, arrival: Arrival) -> tuple[int, str]:
        """Return the time of a line: that of the one before, if it has none."""
        time = self._last if line.time is None else line.time
        if not self._last <= time <= LATEST:
            is_late = time > LATEST
            wrong = "too late" if is_late else "before that of the line before"
            arrival.damage.append(
                Damage(
                    self.path,
                    offset,
                    offset + line.size,
                    "time-goes-back",
                    f"the time of '{line.text[:40]}' is {wrong}",
                )
            )
            time = self._last
        self._last = time
        return time, line.text


class _Encoder:
    # Lines as packets of a data stream in memory.

    def __init__(self, name: str, index: int, *, has_times: bool) -> None:
        self._parsed = core.TraceClass.parse(_metadata(has_times=has_times))
        info = TraceInfo(index, name, self._parsed)
        handle = core.DataStream(
            self._parsed,
            [],
            trace_name=name,
            trace_index=index,
            process_space=index,
            class_index=0,
            path="",
        )
        self.stream = Stream(info, 0, 0, "", handle)
        self._layout = core.EventLayout(self._parsed, 0, "string")
        self._writer = core.StreamWriter.in_memory(
            self._parsed, 0, 0, PACKET_BYTES, LATEST
        )

    def part(self, lines: Sequence[tuple[int, str]]) -> core.DataStream:
        """Return lines as a part of the data stream."""
        times = [time for time, _ in lines]
        texts = [text for _, text in lines]
        self._writer.write_many(self._layout, times, None, {"str": texts})
        file = core.DataFile.of_bytes(self._parsed, "", self._writer.take())
        return self.stream.handle.following(self._parsed, file)


def _metadata(*, has_times: bool) -> bytes:
    """Return the metadata of lines."""
    stream = {
        "type": "data-stream-class",
        "packet-context-field-class": _structure(
            _number("packet_size", "packet-total-length"),
            _number("content_size", "packet-content-length"),
        ),
        "attributes": WITHOUT_PACKETS,
    }
    fragments: list[dict[str, Any]] = [{"type": "preamble", "version": 2}]
    if has_times:
        clock = {"type": "clock-class", "id": CLOCK, "frequency": FREQUENCY}
        fragments.append(clock)
        stream["default-clock-class-id"] = CLOCK
        stream["event-record-header-field-class"] = _structure(
            _number("timestamp", "default-clock-timestamp")
        )
    text = {"name": "str", "field-class": {"type": "null-terminated-string"}}
    event = {"type": "event-record-class", "name": "string"}
    fragments += [stream, event | {"payload-field-class": _structure(text)}]
    return b"".join(b"\x1e%b\n" % json.dumps(one).encode() for one in fragments)


def _number(name: str, role: str) -> dict[str, Any]:
    field_class = {
        "type": "fixed-length-unsigned-integer",
        "length": 64,
        "alignment": 8,
        "byte-order": f"{sys.byteorder}-endian",
        "roles": [role],
    }
    return {"name": name, "field-class": field_class}


def _structure(*members: dict[str, Any]) -> dict[str, Any]:
    return {"type": "structure", "member-classes": [*members]}


def _opened(path: str) -> int:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise GraphError(f"cannot open {path}: {error.strerror}") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise GraphError(f"{path} is not a regular file")
    return descriptor


def make_dmesg(spec: ComponentSpec, first_index: int) -> DmesgSource:
    """Open what a component is to read.

    Args:
        spec: The component.
        first_index: The number of traces of other sources before it.

    Raises:
        GraphError: It cannot be read.
    """
    reads_times = not spec.params.get("no-extract-timestamp", False)
    path = spec.params.get("path")
    return DmesgSource(path, reads_times=reads_times, index=first_index)
