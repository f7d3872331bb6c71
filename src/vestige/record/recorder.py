"""Starting a program with the tracer in it, and closing its trace."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import ProgramError, RecordError, SelectionError
from ._agreement import REFUSALS_FILE
from .collector import Collected
from .metadata_file import METADATA
from .options import RecordingOptions
from .session import Session
from .tracer import check_agreement, check_counters

__all__ = ["Recording", "record"]

WORTH_MEASURING = 64 * 1024
"""Bytes of a trace, some thousand calls: who records fewer is in a hurry."""


class Recording(NamedTuple):
    """A recording that has ended."""

    command: tuple[str, ...]
    """The program and its arguments."""

    options: RecordingOptions
    """What was asked for."""

    directory: Path
    """The trace."""

    status: int
    """The program's exit status; 128 and the number of the signal that ended it."""

    seconds: float
    """How long the program ran."""

    collected: Collected
    """What the trace holds."""

    def __fspath__(self) -> str:
        """Return the path of the trace, for :func:`vestige.open` and others."""
        return os.fspath(self.directory)


def record(
    command: Sequence[str | os.PathLike[str]],
    directory: str | os.PathLike[str],
    options: RecordingOptions | None = None,
    **fields: Any,
) -> Recording:
    """Run a program and record it.

    Args:
        command: The program and its arguments.
        directory: The trace: a directory that is new or empty.
        options: What is recorded.
        fields: Fields of :class:`RecordingOptions` that differ from ``options``.

    Returns:
        The recording, once the program has ended. :func:`vestige.open` takes it.

    Raises:
        ProgramError: The program cannot be started. The directory is as before.
        RecordError: The tracer cannot be started, or the directory cannot hold a trace.
        SelectionError: The command is one text, or an option has no such value.

    Example:
        >>> recording = vestige.record(["./app"], "app-trace", events=("my_app:*",))
        >>> print(len(vestige.open(recording)))
    """
    if isinstance(command, str | bytes | os.PathLike) or not command:
        raise SelectionError(
            f"{command!r} is no command: expected a program and its arguments, "
            "such as ['ls', '-l']"
        )
    program = tuple(os.fspath(word) for word in command)
    chosen = options or RecordingOptions()
    options = RecordingOptions(**{**chosen._asdict(), **fields}) if fields else chosen
    check_agreement()
    check_counters(options.contexts)
    directory, is_new = _make_directory(Path(directory))
    with _removed_on_failure(directory, whole=is_new):
        session = Session(directory, options)
    with closing(session):
        with _removed_on_failure(directory, whole=is_new):
            status = session.run(program)
        collected = session.finish()
        if _size(directory) >= WORTH_MEASURING:
            from .cost import call_cost  # noqa: PLC0415 - short recordings need it not

            cost = call_cost(directory, options, is_counter=session.is_counter)
            session.tell_cost(cost)
    return Recording(program, options, directory, status, session.seconds, collected)


def _size(directory: Path) -> int:
    size = 0
    with suppress(OSError):
        for path in directory.iterdir():
            # A process that goes on recording may take it away.
            with suppress(FileNotFoundError):
                size += path.stat().st_size
    return size


def _make_directory(directory: Path) -> tuple[Path, bool]:
    """Return the directory, absolute, and whether it was not there."""
    try:
        os.fspath(directory.absolute()).encode()
    except UnicodeEncodeError as error:
        # Its name is in the metadata, and readers take no other.
        raise RecordError(
            "expected a path of UTF-8 text", path=directory.absolute()
        ) from error
    try:
        is_new = not directory.exists()
        directory.mkdir(parents=True, exist_ok=True)
        directory = directory.resolve()
        if any(directory.iterdir()):
            raise RecordError("expected a new or an empty directory", path=directory)
    except OSError as error:
        raise RecordError(
            f"cannot hold a trace: {error.strerror}", path=directory
        ) from error
    return directory, is_new


@contextmanager
def _removed_on_failure(directory: Path, *, whole: bool) -> Iterator[None]:
    """Take a trace away that cannot begin, as on a full disk."""
    try:
        yield
    except OSError as error:
        _remove(directory, whole=whole)
        raise RecordError(
            f"cannot hold a trace: {error.strerror}", path=directory
        ) from error
    except (ProgramError, RecordError):
        _remove(directory, whole=whole)
        raise


def _remove(directory: Path, *, whole: bool) -> None:
    """Take away a trace in which nothing is."""
    with suppress(OSError):
        for name in (REFUSALS_FILE, METADATA):
            (directory / name).unlink(missing_ok=True)
        if whole:
            directory.rmdir()
