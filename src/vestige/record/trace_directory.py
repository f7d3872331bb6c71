"""The directory of a trace: made when a recording begins, gone if it cannot."""

from __future__ import annotations

import os

from .._suppress import suppress
from ..errors import RecordError
from ._agreement import METADATA_FILE, REFUSALS_FILE

__all__ = ["KERNEL", "PROGRAMS", "TraceDirectory", "kernel_beside"]

PROGRAMS, KERNEL = "ust", "kernel"
"""The directories of both domains in a recording that has both, as LTTng calls them."""

_EXPECTED = "expected a new or an empty directory"


class TraceDirectory:
    """A directory that is new or empty.

    Args:
        path: Where it is, or is to be made.

    Raises:
        RecordError: It cannot hold a trace.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.outer: str | None = None
        """The directory of the recording, if this one is in it."""
        self._is_outer_new = False
        place = os.path.abspath(path)
        try:
            place.encode()
        except UnicodeEncodeError as error:
            # Its name is in the metadata, and readers take no other.
            raise RecordError("expected a path of UTF-8 text", path=place) from error
        try:
            self._is_new = not os.path.exists(place)
            if self._is_new and os.path.islink(place):
                raise RecordError(
                    f"{_EXPECTED}, and it is a symbolic link to {os.readlink(place)}, "
                    "which is not there",
                    path=place,
                )
            os.makedirs(place, exist_ok=True)
            self.path = os.path.realpath(place)
            """Its absolute path."""
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
        inner.outer = self.path
        inner._is_outer_new = self._is_new
        return inner

    def take_back(self) -> None:
        """Leave the place as it was: nothing is in the trace."""
        for name in (REFUSALS_FILE, METADATA_FILE):
            with suppress(OSError):
                os.unlink(os.path.join(self.path, name))
        if self._is_new:
            with suppress(OSError):
                os.rmdir(self.path)
        if self.outer is not None and self._is_outer_new:
            with suppress(OSError):
                os.rmdir(self.outer)


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
