"""Starting a program with the tracer in it, and closing its trace."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import ProgramError, RecordError, SelectionError
from .background import inner_id, processes_in_background
from .class_list import CLASS_LIST, make_class_list
from .clock import LATER_SPANS, ClockRate, RecordingClock, has_constant_counter
from .collect import Collected, collect
from .control import CONTROL, make_control
from .launch import run
from .losses import LOST, make_losses, tell_losses
from .metadata import metadata_text
from .options import RecordingOptions
from .program_environment import fit_environment
from .refusals import REFUSALS, make_refusals, read_refusals, refusal_lines
from .rules_file import RULES, make_rules
from .tracer import check_agreement, check_counters, clock_reader, tracer_environment

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
    is_counter = has_constant_counter()
    read = clock_reader() if is_counter else None
    uuid = _new_uuid()
    clock = RecordingClock(read)
    created = time.time()

    def write_metadata(rate: ClockRate, cost: int | None = None) -> None:
        # In place: processes append the classes of their events to the same file, and
        # the beginning is as long each time.
        text = metadata_text(
            uuid,
            rate,
            options,
            directory.name,
            is_counter=is_counter,
            call_cost=cost,
            created=created,
        )
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC
        with os.fdopen(os.open(directory / "metadata", flags, 0o600), "wb") as file:
            file.write(text.encode())

    def refine_metadata() -> None:
        # What is there will do until the end.
        with suppress(OSError):
            write_metadata(clock.rate())

    with _removed_on_failure(directory, whole=is_new):
        _make_files(directory, options)
        environment = tracer_environment(
            directory,
            uuid,
            options,
            is_counter=is_counter,
            frequency=clock.rate().frequency,
        )
        fit_environment(environment, program[0])
        started = time.monotonic()
        # From here on the trace is readable, whoever is killed.
        write_metadata(clock.rate())
        if options.size_limit:
            make_control(directory, is_overwriting=options.mode == "overwrite")
    try:
        status = run(
            program,
            environment,
            later=refine_metadata,
            moments=LATER_SPANS if is_counter else (),
        )
    except OSError as error:
        _remove(directory, whole=is_new)
        raise ProgramError(program[0], error) from error
    seconds = time.monotonic() - started
    tell_losses(directory, uuid, clock.begin, clock.now())
    collected = _collect(directory, uuid, options)
    refine_metadata()
    if _size(directory) >= WORTH_MEASURING:
        from .cost import call_cost  # noqa: PLC0415 - short recordings need it not

        cost = call_cost(directory, options, is_counter=is_counter)
        with suppress(OSError):
            write_metadata(clock.rate(), cost)
    if clock.problem is not None:
        collected.problems.append(clock.problem)
    return Recording(program, options, directory, status, seconds, collected)


def _make_files(directory: Path, options: RecordingOptions) -> None:
    """Make what processes map, read and append to."""
    make_losses(directory)
    make_class_list(directory)
    make_refusals(directory)
    if options.events:
        make_rules(directory, options.rules())


def _collect(directory: Path, uuid: str, options: RecordingOptions) -> Collected:
    """Close the trace, and tell of those that would not take part in it."""
    refusals = read_refusals(directory)
    background: set[int] = set()
    if options.follow_fork:
        refused = {one.process for one in refusals}
        found = processes_in_background(uuid.replace("-", ""))
        background = {one for one in found if inner_id(one) not in refused}
    try:
        collected = collect(directory, background)
    except OSError as error:
        # As when the program has removed the directory, or gave it another name.
        collected = Collected(problems=[f"{directory}: {error.strerror}"])
    collected.problems += refusal_lines(refusals)
    return collected


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
    except RecordError:
        _remove(directory, whole=whole)
        raise


def _remove(directory: Path, *, whole: bool) -> None:
    """Take away a trace in which nothing is."""
    with suppress(OSError):
        for name in (CONTROL, LOST, RULES, CLASS_LIST, REFUSALS, "metadata"):
            (directory / name).unlink(missing_ok=True)
        if whole:
            directory.rmdir()


def _new_uuid() -> str:
    """Return a random UUID (RFC 9562, version 4).

    Importing the module ``uuid`` takes longer than the program may run.
    """
    number = int.from_bytes(os.urandom(16), "big")
    number = number & ~(0xF << 76) | 4 << 76
    digits = f"{number & ~(3 << 62) | 2 << 62:032x}"
    ends = (0, 8, 12, 16, 20, 32)
    return "-".join(digits[start:end] for start, end in pairwise(ends))
