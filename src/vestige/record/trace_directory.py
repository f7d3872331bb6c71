"""The directory of a trace: made when a recording begins, gone if it cannot."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from ..errors import RecordError
from ._agreement import METADATA_FILE, REFUSALS_FILE

__all__ = ["TraceDirectory"]


class TraceDirectory:
    """A directory that is new or empty.

    Args:
        path: Where it is, or is to be made.

    Raises:
        RecordError: It cannot hold a trace.
    """

    def __init__(self, path: Path) -> None:
        try:
            os.fspath(path.absolute()).encode()
        except UnicodeEncodeError as error:
            # Its name is in the metadata, and readers take no other.
            raise RecordError(
                "expected a path of UTF-8 text", path=path.absolute()
            ) from error
        try:
            self._is_new = not path.exists()
            path.mkdir(parents=True, exist_ok=True)
            self.path = path.resolve()
            """Its absolute path."""
            if any(self.path.iterdir()):
                raise RecordError(
                    "expected a new or an empty directory", path=self.path
                )
        except OSError as error:
            raise RecordError(
                f"cannot hold a trace: {error.strerror}", path=path
            ) from error

    def take_back(self) -> None:
        """Leave the place as it was: nothing is in the trace."""
        with suppress(OSError):
            for name in (REFUSALS_FILE, METADATA_FILE):
                (self.path / name).unlink(missing_ok=True)
            if self._is_new:
                self.path.rmdir()
