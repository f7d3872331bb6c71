"""Names for the addresses of programs that a trace has: which file was mapped where.

As with names of the kernel (:mod:`.kernel_names`), a trace has what its own addresses
need, as entries of the environment: ``user_threads_N`` says which threads were of which
process image and since when, ``user_objects_N`` which objects an image had. A process
that executes a program has another image. Functions and lines are found by who reads,
in files with the same build ID.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from itertools import islice

from ...._typing import TYPE_CHECKING, NamedTuple
from ....inspect.build_id import read_build_id
from ..environment_text import environment_block
from .map_events import Began, Executed, MapEvents, Mapped
from .proc_files import read_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from .map_events import Told

__all__ = ["ProcessMaps", "ToldProcess", "read_processes"]

_READINGS = 5
"""How often two clocks are read."""
_PAGE = 4096
_END_OF_MEMORY = 1 << 64
_MOST_IMAGES = 4096
"""Images of processes that are kept, besides those that the trace needs."""
_MOST_PARTS = 4096
"""Parts of files of an image."""
_NO_FILE = b"//"
"""How the kernel calls what is none: ``//anon``, ``//toolong``."""
_MOST_THREADS = 1 << 16
"""Threads that are kept, besides those that there are and that the trace needs."""
_MAP = re.compile(
    rb"^(\w+)-(\w+) \S+ (\w+) \S+ \d+ +(/.*?)(?: \(deleted\))?$", re.MULTILINE
)
_ODD = re.compile(rb"[^!-$&-:<-~]")
"""What is written by its number: spaces, ``%``, ``;``, controls, what is not ASCII."""


ToldProcess = tuple[int, list[int], list[tuple[int, int, int, str]]]
"""A process, its threads, and parts of files: begin, end, offset and path."""


def read_processes() -> list[ToldProcess]:
    """Return what is mapped now; who does it has the rights for that."""
    found: list[ToldProcess] = []
    for process in map(int, filter(str.isdigit, os.listdir("/proc"))):
        # It may have ended, or belong to somebody else.
        with suppress(OSError):
            parts = [
                (int(begin, 16), int(end, 16), int(offset, 16), os.fsdecode(path))
                for begin, end, offset, path in islice(
                    map(
                        re.Match.groups,
                        _MAP.finditer(read_file(f"/proc/{process}/maps")),
                    ),
                    _MOST_PARTS,
                )
            ]
            if parts:
                threads = [int(one) for one in os.listdir(f"/proc/{process}/task")]
                found.append((process, threads, parts))
    return found


class _Part(NamedTuple):
    # A part of a file in memory.
    begin: int
    end: int
    offset: int
    path: bytes
    build_id: bytes


class _Image:
    # What a process has mapped since it began or executed a program.
    def __init__(self, number: int, process: int, parts: Iterable[_Part] = ()) -> None:
        self.number, self.process = number, process
        self.parts = list(parts)
        self.is_needed = self.is_whole = False


class ProcessMaps:
    """Follows what processes map.

    Args:
        files: Descriptors by which the kernel tells of it; they stay those of the
            caller.
        now: Gives the present value of the trace's clock.
    """

    def __init__(self, files: Sequence[int], now: Callable[[], int]) -> None:
        self.files = files
        """The descriptors."""
        self._events: MapEvents | None = None
        self._now = now
        self._begin = self._both()
        self._count = 0
        self._images: dict[int, _Image] = {}
        """By their numbers, the oldest first."""
        self._present: dict[int, _Image] = {}
        """That of each process."""
        self._threads: dict[int, list[tuple[int, int]]] = {}
        """Since when, nanoseconds, and the number of the image, of each thread."""
        self._most_threads = 2 * _MOST_THREADS
        self._pages: dict[int, set[int]] = {}
        self._fresh: set[int] = set()
        """Threads of which something is new since names were said."""
        self._changed: set[int] = set()
        """The same of images, by their numbers."""
        self._said: set[tuple[int, ...]] = set()
        self._entries = 0
        self._ids: dict[bytes, bytes] = {}
        self.text = ""
        """All that is said, as metadata."""

    def _both(self) -> tuple[int, int]:
        """Read both clocks at one moment.

        Others may run between two readings: of several, those count that were nearest.
        """
        found = []
        for _ in range(_READINGS):
            before = time.monotonic_ns()
            now = self._now()
            found.append((time.monotonic_ns() - before, now, before))
        took, now, before = min(found)
        return now, before + took // 2

    @property
    def lost(self) -> int:
        """How much the kernel could not tell: names may be missing or wrong."""
        return 0 if self._events is None else self._events.lost

    def open(self) -> None:
        """Let the kernel tell; only what comes from now on is told."""
        # A process that is forked has none of this memory.
        self._events = MapEvents(self.files)

    def learn(self, processes: Iterable[ToldProcess]) -> None:
        """Know what processes had mapped.

        Args:
            processes: What :func:`read_processes` returned after :meth:`open`.
        """
        self.follow()
        for process, threads, parts in processes:
            known = self._present.get(process)
            if known is not None and known.is_whole:
                continue
            image = self._new_image(
                process,
                (
                    _Part(begin, end, offset, os.fsencode(path), b"")
                    for begin, end, offset, path in parts
                ),
            )
            image.is_whole = True
            for thread in threads:
                self._threads[thread] = [(0, image.number)]
                self._fresh.add(thread)

    def _new_image(self, process: int, parts: Iterable[_Part] = ()) -> _Image:
        image = _Image(self._count, process, parts)
        self._count += 1
        self._images[image.number] = image
        self._present[process] = image
        self._changed.add(image.number)
        if len(self._images) > 2 * _MOST_IMAGES:
            self._forget()
        return image

    def _forget(self) -> None:
        """Forget images of processes that are gone and that nothing needs."""
        present = {one.number for one in self._present.values()}
        old = list(self._images.values())[:-_MOST_IMAGES]
        gone = {
            one.number for one in old if not one.is_needed and one.number not in present
        }
        # A process that has ended is not told of: only another one with its ID.
        for one in old:
            if not one.is_needed and not os.path.exists(f"/proc/{one.process}"):
                gone.add(one.number)
                if self._present.get(one.process) is one:
                    del self._present[one.process]
        for number in gone:
            del self._images[number]
        self._threads = {
            thread: left
            for thread, all_images in self._threads.items()
            if (left := [one for one in all_images if one[1] not in gone])
        }
        self._fresh &= self._threads.keys()
        self._changed &= self._images.keys()

    def _forget_threads(self) -> None:
        """Forget threads that have ended and that nothing needs, but for the last."""
        by_age = sorted(self._threads, key=lambda one: self._threads[one][-1][0])
        for one in by_age[:-_MOST_THREADS]:
            if one not in self._pages and not os.path.exists(f"/proc/{one}"):
                del self._threads[one]
        self._fresh &= self._threads.keys()
        self._most_threads = 2 * max(_MOST_THREADS, len(self._threads))

    def follow(self, *, is_end: bool = False) -> None:
        """Take what the kernel told.

        Args:
            is_end: Whether nothing comes any more.
        """
        if self._events is None:
            return
        for one in self._events.read(None if is_end else time.monotonic_ns()):
            self.take(one)

    def take(self, one: Told) -> None:
        """Take one thing that the kernel told.

        Args:
            one: It; what is no file is left out.
        """
        match one:
            case Began():
                self._begin_one(one)
            case Executed():
                image = self._new_image(one.process)
                image.is_whole = True
                self._put(one.thread, one.time, image)
            case Mapped() if one.path.startswith(b"/") and one.path[:2] != _NO_FILE:
                self._map(one)
            case _:
                pass

    def _begin_one(self, one: Began) -> None:
        known = self._present.get(one.parent)
        if one.process == one.parent:
            if known is not None:
                self._put(one.thread, one.time, known)
            return
        image = self._new_image(one.process, () if known is None else known.parts)
        image.is_whole = known is not None and known.is_whole
        self._put(one.thread, one.time, image)

    def _put(self, thread: int, time_: int, image: _Image) -> None:
        images = self._threads.setdefault(thread, [])
        # IDs are used again, mostly in the same process.
        if images and images[-1][1] == image.number:
            return
        images.append((time_, image.number))
        self._fresh.add(thread)
        if len(self._threads) > self._most_threads:
            self._forget_threads()

    def _map(self, one: Mapped) -> None:
        image = self._present.get(one.process)
        if image is None:
            image = self._new_image(one.process)
            self._put(one.process, one.time, image)
        if len(image.parts) < _MOST_PARTS:
            self._changed.add(image.number)
            image.parts.append(
                _Part(
                    one.begin,
                    one.begin + one.size,
                    one.offset,
                    one.path,
                    one.build_id,
                )
            )

    def name(self, pages: Iterable[tuple[int, int]], *, is_end: bool = False) -> str:
        """Say what is known of pages of memory.

        Args:
            pages: Threads and pages that are new in the trace.
            is_end: Whether nothing comes any more.

        Returns:
            What is said besides of what was said before, as metadata.
        """
        self.follow(is_end=is_end)
        for thread, page in pages:
            self._pages.setdefault(thread, set()).add(page)
            self._fresh.add(thread)
        threads: list[str] = []
        objects: list[str] = []
        for thread, wanted in self._pages.items():
            is_fresh = thread in self._fresh
            for since, number in self._threads.get(thread, ()):
                # What is as it was, has been looked at.
                if not is_fresh and number not in self._changed:
                    continue
                image = self._images[number]
                image.is_needed = True
                objects += self._objects(image, wanted)
                if self._is_new(thread, since, number):
                    at = self._at(since) if since else 0
                    threads.append(f"{thread} {at:x} {number} {image.process}")
        self._fresh.clear()
        self._changed.clear()
        if not threads and not objects:
            return ""
        said = {"user_threads": threads, "user_objects": objects}
        more, self._entries = environment_block(said, self._entries)
        self.text += more
        return more

    def _is_new(self, *what: int) -> bool:
        if what in self._said:
            return False
        self._said.add(what)
        return True

    def _at(self, nanoseconds: int) -> int:
        """Return the value that the trace's clock had at a time."""
        (first, begin), (last, end) = self._begin, self._both()
        return first + (nanoseconds - begin) * (last - first) // max(end - begin, 1)

    def _objects(self, image: _Image, pages: Iterable[int]) -> Iterator[str]:
        """Yield the objects at some pages that were not said yet."""
        for number, part in enumerate(image.parts):
            first, last = part.begin // _PAGE, (part.end - 1) // _PAGE
            if not any(first <= page <= last for page in pages):
                continue
            base = _base(image.parts, number)
            size = _end(image.parts, number, base) - base
            if self._is_new(image.number, base, size):
                build_id = (part.build_id or self._build_id(part.path)).hex()
                path = _ODD.sub(_numbered, part.path).decode()
                yield f"{image.number} {base:x} {size:x} {build_id or '-'} {path}"

    def _build_id(self, path: bytes) -> bytes:
        """Return what a file has now; of what was mapped before, nobody tells."""
        if path not in self._ids:
            self._ids[path] = b""
            with suppress(OSError, ValueError), open(path, "rb") as file:
                self._ids[path] = read_build_id(file)
        return self._ids[path]


def _numbered(found: re.Match[bytes]) -> bytes:
    return f"%{found[0].hex()}".encode()


def _base(parts: list[_Part], number: int) -> int:
    """Return where the file begins of which a part is mapped."""
    part = parts[number]
    begins = [
        one.begin
        for one in parts[: number + 1]
        if one.path == part.path and one.offset == 0 and one.begin <= part.begin
    ]
    # A part is as far from the beginning in memory as in the file, or a bit farther.
    return max(begins, default=part.begin - part.offset)


def _end(parts: list[_Part], number: int, base: int) -> int:
    """Return where it ends: where another file, or it itself again, begins."""
    part = parts[number]
    own = [one for one in parts if one.path == part.path and one.begin >= base]
    others = [
        one.begin
        for one in parts
        if one.begin > part.begin and (one.path != part.path or not one.offset)
    ]
    bound = min(others, default=_END_OF_MEMORY)
    return max((one.end for one in own if one.begin < bound), default=part.end)
