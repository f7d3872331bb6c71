"""The directory of a trace: made when a recording begins, gone if it cannot."""

from __future__ import annotations

import os

from .._suppress import suppress
from .._typing import NamedTuple
from ..errors import RecordError
from ._agreement import METADATA_FILE, REFUSALS_FILE
from .own_directories import OwnDirectory, known_directory, make_directories

__all__ = ["KERNEL", "PRESENT", "PROGRAMS", "Places", "TraceDirectory", "kernel_beside"]

PROGRAMS, KERNEL = "ust", "kernel"
"""The directories of both domains in a recording that has both, as LTTng calls them."""

PRESENT = "present"
"""In a recording that is rotated: what is recorded now."""

_EXPECTED = "expected a new or an empty directory"


class Places(NamedTuple):
    """Where the parts of a recording are, by absolute paths."""

    programs: str
    """The trace of programs."""

    whole: str
    """The directory of the recording, which may be the same."""

    kernel: str | None = None
    """The trace of the kernel, if it is recorded; it is made later."""

    name: str = ""
    """What the recording is called; empty: as its directory."""


class TraceDirectory:
    """A directory that is new or empty.

    Args:
        path: Where it is, or is to be made.

    Raises:
        RecordError: It cannot hold a trace.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._above: TraceDirectory | None = None
        place = os.path.abspath(path)
        try:
            place.encode()
        except UnicodeEncodeError as error:
            # Its name is in the metadata, and readers take no other.
            raise RecordError("expected a path of UTF-8 text", path=place) from error
        try:
            if os.path.islink(place) and not os.path.exists(place):
                raise RecordError(
                    f"{_EXPECTED}, and it is a symbolic link to {os.readlink(place)}, "
                    "which is not there",
                    path=place,
                )
            made = make_directories(place)
            self.path = os.path.realpath(place)
            """Its absolute path."""
            self._own = OwnDirectory(known_directory(self.path), made)
            if os.listdir(self.path):
                raise RecordError(_EXPECTED, path=self.path)
        except (FileExistsError, NotADirectoryError) as error:
            raise RecordError(
                f"{_EXPECTED}: it, or what is above it, is a file",
                path=os.fspath(path),
            ) from error
        except OSError as error:
            raise RecordError(
                f"cannot hold a trace: {error.strerror}", path=os.fspath(path)
            ) from error

    def inner(self, name: str) -> TraceDirectory:
        """Return a directory in it that holds the trace.

        Args:
            name: Its name.

        Raises:
            RecordError: It cannot be made.
        """
        inner = TraceDirectory(os.path.join(self.path, name))
        inner._above = self
        return inner

    @property
    def whole(self) -> str:
        """The directory of the recording: this one, or the one in which it is."""
        return self.path if self._above is None else self._above.whole

    @property
    def own(self) -> OwnDirectory:
        """What was made for the recording, see :attr:`whole`."""
        return self._own if self._above is None else self._above.own

    def take_back(self) -> None:
        """Leave the place as it was: nothing is in the trace."""
        for name in (REFUSALS_FILE, METADATA_FILE):
            with suppress(OSError):
                os.unlink(os.path.join(self.path, name))
        for one in self._own.made:
            # Somebody may have put something there.
            with suppress(OSError):
                os.rmdir(one.path)
        if self._above is not None:
            self._above.take_back()


def kernel_beside(directory: str) -> str | None:
    """Return the directory of the kernel's trace in the same recording.

    Args:
        directory: That of the trace of programs.

    Returns:
        The directory; ``None`` if there is none.
    """
    above, name = os.path.split(directory)
    if name != PROGRAMS:
        return None
    place = os.path.join(above, KERNEL)
    return place if os.path.exists(os.path.join(place, METADATA_FILE)) else None
