"""The files of a kernel trace, made by whoever owns them."""

from __future__ import annotations

import errno
import os
from contextlib import suppress

from ...._typing import TYPE_CHECKING
from ..live_file import LIVE_FILE, live_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["TraceFiles"]

_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MODE = 0o770
_MOST_NAMESAKES = 1000
INDEX = "index"
METADATA = "metadata"
_NEXT = ".metadata"
"""Metadata that take the place of others."""


class TraceFiles:
    """A new trace directory.

    Args:
        path: Where it is made.
        older: What becomes of a trace that is there: it is ``refused``; it is
            ``replaced``, as LTTng does; or it is ``kept``, and the new one gets another
            name.

    Raises:
        OSError: It cannot be made, or somebody has put another one in its place.
    """

    def __init__(self, path: str, older: str = "refused") -> None:
        self.path, self._directory = _made_in_place(path, older)
        try:
            self._index = _made(INDEX, self._directory)
        except BaseException:
            os.close(self._directory)
            raise

    def write_metadata(self, text: str) -> None:
        """Write the metadata, in place of those that are there.

        Raises:
            OSError: They cannot be written.
        """
        with suppress(FileNotFoundError):
            os.unlink(_NEXT, dir_fd=self._directory)
        with os.fdopen(
            os.open(_NEXT, _NEW, 0o660, dir_fd=self._directory), "wb"
        ) as file:
            file.write(text.encode())
        os.rename(
            _NEXT, METADATA, src_dir_fd=self._directory, dst_dir_fd=self._directory
        )

    def add_metadata(self, text: str) -> None:
        """Write more of the metadata behind what is there, all of it or nothing.

        Raises:
            OSError: It cannot be written.
        """
        flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(METADATA, flags, dir_fd=self._directory)
        try:
            end = os.fstat(file).st_size
            data = text.encode()
            if os.pwrite(file, data, end) < len(data):
                os.ftruncate(file, end)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), METADATA)
        finally:
            os.close(file)

    def tell_live(self, time: int) -> None:
        """Say up to when all of the trace is in its files.

        Args:
            time: A value of its clock.

        Raises:
            OSError: It cannot be written.
        """
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(LIVE_FILE, flags, 0o660, dir_fd=self._directory)
        try:
            os.pwrite(file, live_words(time), 0)
        finally:
            os.close(file)

    def tell_no_more(self) -> None:
        """Say nothing of that any more: the files are complete."""
        with suppress(OSError):
            os.unlink(LIVE_FILE, dir_fd=self._directory)

    def open_streams(
        self, channels: Iterable[Sequence[str]]
    ) -> list[list[tuple[int, int]]]:
        """Make the files of data streams.

        Args:
            channels: Of each channel the names of its data files.

        Returns:
            Of each channel and file, the descriptors of data and index.

        Raises:
            OSError: One cannot be made.
        """
        made: list[list[tuple[int, int]]] = []
        try:
            for names in channels:
                made.append([])
                for one in names:
                    made[-1].append(self._pair(one))
        except BaseException:
            for descriptor in (one for pairs in made for pair in pairs for one in pair):
                os.close(descriptor)
            raise
        return made

    @property
    def folders(self) -> tuple[int, int]:
        """The descriptors of the directories of data files and of indexes."""
        return self._directory, self._index

    def _pair(self, name: str) -> tuple[int, int]:
        data = os.open(name, _NEW, 0o660, dir_fd=self._directory)
        try:
            return data, os.open(f"{name}.idx", _NEW, 0o660, dir_fd=self._index)
        except BaseException:
            os.close(data)
            raise

    def close(self) -> None:
        """Let the directory go; what is in it stays."""
        os.close(self._index)
        os.close(self._directory)

    def remove(self) -> None:
        """Let it go, and nothing of it stays."""
        self.close()
        # Few come here, and below.
        import shutil  # noqa: PLC0415 - see above

        shutil.rmtree(self.path, ignore_errors=True)


def _made_in_place(path: str, older: str) -> tuple[str, int]:
    """Make a directory, whatever is there; return where, and what it is opened as."""
    if older == "kept":
        for number in range(1, _MOST_NAMESAKES):
            place = path if number == 1 else f"{path}-{number}"
            with suppress(FileExistsError):
                return place, _made(place)
    elif older == "replaced" and _is_trace(path):
        import shutil  # noqa: PLC0415 - see above

        shutil.rmtree(path)
    return path, _made(path)


def _is_trace(path: str) -> bool:
    """Tell whether there is a trace, or nothing but a directory."""
    try:
        names = os.listdir(path)
    except OSError:
        return False
    if os.path.islink(path):
        return False
    return METADATA in names or not names


def _made(path: str, above: int | None = None) -> int:
    """Make a directory, and open it."""
    os.mkdir(path, _MODE, dir_fd=above)
    opened = os.open(path, _OPEN, dir_fd=above)
    # The one above may belong to another, who may do there what he likes.
    if os.fstat(opened).st_uid != os.geteuid():
        os.close(opened)
        raise PermissionError(errno.EPERM, "it is another's directory", path)
    return opened
