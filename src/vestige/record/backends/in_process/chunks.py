"""Chunks of a recording: archived while it goes on, by time or by size.

The recorder writes to ``present`` in the directory of the recording; what was recorded
before is in ``archives/BEGIN-END-NUMBER`` there, traces of their own.
"""

from __future__ import annotations

import os
import time

from ...._suppress import suppress
from ...._typing import TYPE_CHECKING
from ....errors import RecordError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["ARCHIVES", "Chunks", "archive_name"]

ARCHIVES = "archives"
LOOK = 0.1
"""Seconds between two looks at how large a chunk is."""
RETRY = 5.0
"""Seconds after which what could not be archived is tried again."""
MODE = 0o770
_STAMP = "%Y%m%dT%H%M%S%z"


def archive_name(begin: float, end: float, number: int) -> str:
    """Return what a chunk is called that has ended.

    Args:
        begin: Seconds since 1970.
        end: As above; before that if the clock was set back meanwhile.
        number: That of the chunk, from 0 on.
    """
    first, last = (
        time.strftime(_STAMP, time.localtime(one)) for one in (begin, max(begin, end))
    )
    return f"{first}-{last}-{number}"


class Chunks:
    """Archives the chunks of one recording.

    Args:
        directory: That of the recording, absolute.
        archive: Moves what was recorded up to now to an empty directory.
        size: Returns the bytes of the present chunk.
        seconds: After how long it is archived; 0 for never.
        most_bytes: After how many bytes; 0 for never.
        kept: How many archives are kept, the newest; 0 for all.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - facts, by name
        self,
        directory: str,
        archive: Callable[[str], None],
        size: Callable[[], int],
        seconds: float,
        most_bytes: int,
        kept: int,
    ) -> None:
        self._folder = f"{directory}/{ARCHIVES}"
        self._archive, self._size = archive, size
        self._seconds, self._most_bytes, self._kept = seconds, most_bytes, kept
        self._begin = time.time()
        # Whoever sets the clock changes names, but not when a chunk ends.
        self._since = time.monotonic()
        self._not_before = 0.0
        self._number = 0
        self.archives: list[str] = []
        """The directories of those that are there, the oldest first."""
        self.problems: list[str] = []
        """Why others are not."""

    def ticks(self) -> Iterator[tuple[float, Callable[[int], object]]]:
        """Return what is to be done while the program runs, without an end."""
        step = self._seconds
        if self._most_bytes:
            step = min(LOOK, step) if step else LOOK
        moment = 0.0
        while True:
            moment += step
            yield moment, self._tick

    def _tick(self, _process: int) -> None:
        now = time.monotonic()
        age = now - self._since
        is_late = self._seconds and age >= self._seconds - LOOK / 2
        is_large = self._most_bytes and self._size() >= self._most_bytes
        if (is_late or is_large) and now >= self._not_before:
            self.rotate()

    def rotate(self) -> None:
        """Archive the present chunk, or note why it goes on."""
        end = time.time()
        name = archive_name(self._begin, end, self._number)
        place = f"{self._folder}/{name}"
        try:
            os.makedirs(self._folder, MODE, exist_ok=True)
            os.mkdir(place, MODE)
            try:
                self._archive(place)
            except (OSError, RecordError):
                # What was moved is not to be lost; else there is nothing in it.
                with suppress(OSError):
                    os.rmdir(place)
                raise
        except (OSError, RecordError) as error:
            # Each attempt has another name, and says the same.
            why = str(error).replace(place, self._folder)
            self._note(f"a chunk was not archived: {why}")
            self._not_before = time.monotonic() + RETRY
            return
        self._begin, self._number = end, self._number + 1
        self._since = time.monotonic()
        self.archives.append(place)
        if self._kept:
            self._remove_older()

    def _remove_older(self) -> None:
        # Few recordings have any.
        from shutil import rmtree  # noqa: PLC0415 - see above

        while len(self.archives) > self._kept:
            try:
                rmtree(self.archives[0])
            except FileNotFoundError:
                # Somebody has moved it.
                pass
            except OSError as error:
                self._note(f"an archive was not removed: {error}")
                return
            del self.archives[0]

    def _note(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)
