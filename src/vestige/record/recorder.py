"""Starting a program with the tracer in it, and closing its trace."""

from __future__ import annotations

import os

from .._typing import TYPE_CHECKING
from ..errors import SelectionError
from .backends.in_process.backend import InProcess
from .backends.in_process.launch import LateSignals
from .backends.in_process.tracer import check_agreement, check_counters
from .collected import Collected
from .rules.options import RecordingOptions
from .session import Session
from .trace_directory import KERNEL, PRESENT, PROGRAMS, Places, TraceDirectory

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from typing import Any

__all__ = ["Recording", "SentFiles", "record", "run_and_record"]


class Recording:
    """A recording that has ended.

    Args:
        command: The program and its arguments.
        options: What was asked for.
        directory: The trace.
        status: The program's exit status; 128 and the number of the signal that ended
            it.
        seconds: How long the program ran.
        collected: What the trace holds.
    """

    def __init__(  # noqa: PLR0913 - facts, by name
        self,
        command: Sequence[str],
        options: RecordingOptions,
        directory: str | os.PathLike[str],
        *,
        status: int,
        seconds: float,
        collected: Collected,
    ) -> None:
        self.command = tuple(command)
        """The program and its arguments."""
        self.options = options
        """What was asked for."""
        self._directory = os.fspath(directory)
        self.status = status
        """The program's exit status; 128 and the number of the signal that ended it."""
        self.seconds = seconds
        """How long the program ran."""
        self.collected = collected
        """What the trace holds."""

    @property
    def directory(self) -> Path:
        """The trace."""
        # The command line does not need it, and its import takes long.
        from pathlib import Path  # noqa: PLC0415 - see above

        return Path(self._directory)

    def __fspath__(self) -> str:
        """Return the path of the trace, for :func:`vestige.open` and others."""
        return self._directory

    def __repr__(self) -> str:
        """Say what was recorded where."""
        return (
            f"Recording({self.command!r}, directory={self._directory!r}, "
            f"status={self.status}, seconds={self.seconds:.3f})"
        )


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

    Warns:
        VestigeWarning: Something of the kernel cannot be recorded, for lack of rights
            or because there is no such event. The program is recorded all the same.

    Example:
        >>> recording = vestige.record(["./app"], "app-trace", events=("my_app:*",))
        >>> print(len(vestige.open(recording)))
    """
    if isinstance(command, str | bytes | os.PathLike) or not command:
        raise SelectionError(
            f"{command!r} is no command: expected a program and its arguments, "
            "such as ['ls', '-l']"
        )
    chosen = options or RecordingOptions()
    return run_and_record(
        tuple(os.fspath(word) for word in command),
        directory,
        RecordingOptions(**{**chosen._asdict(), **fields}) if fields else chosen,
        doubted=_warn,
    )


def _warn(problem: str) -> None:
    # Few recordings come here.
    import warnings  # noqa: PLC0415 - see above

    from ..advice import VestigeWarning  # noqa: PLC0415 - as above
    from ..caller import caller_level  # noqa: PLC0415 - as above

    warnings.warn(problem, VestigeWarning, stacklevel=caller_level())


def run_and_record(  # noqa: PLR0913 - facts, by name
    program: tuple[str, ...],
    directory: str | os.PathLike[str],
    options: RecordingOptions,
    meanwhile: Callable[[], object] | None = None,
    *,
    sent: SentFiles | None = None,
    doubted: Callable[[str], object] | None = None,
) -> Recording:
    """Run a program and record it, as :func:`record` does.

    Args:
        program: Its name and its arguments; empty: none, where the kernel is recorded,
            until a signal comes or :attr:`.RecordingOptions.duration` is over.
        directory: The trace.
        options: What is recorded.
        meanwhile: Called once, while the program runs.
        sent: Where what is sent while it is recorded is, if it is.
        doubted: Called before the program starts with each thing that will be missing.

    Returns:
        The recording.

    Raises:
        ProgramError: As there.
        RecordError: As there.
    """
    check_agreement()
    check_counters(options.contexts)
    place = TraceDirectory(directory)
    if sent is not None:
        places = Places(place.path, sent.whole, sent.kernel, sent.name)
    else:
        place, places = _places(place, options)
    backend = InProcess(places, options, meanwhile, is_sent=sent is not None)
    with LateSignals(), Session(place, backend) as session:
        session.prepare()
        if sent is not None:
            sent.hold = backend.hold
        session.start()
        if not program:
            backend.require_kernel()
        if doubted is not None:
            for problem in backend.known_problems:
                doubted(problem)
        status = backend.run(program)
        collected = session.stop()
    if sent is None and not collected.running:
        _give(place, collected)
    return Recording(
        program,
        options,
        place.whole,
        status=status,
        seconds=backend.seconds,
        collected=collected,
    )


def _give(place: TraceDirectory, collected: Collected) -> None:
    """Let what root has recorded for somebody belong to that user."""
    if "SUDO_UID" not in os.environ:
        return
    # Few recordings come here.
    from .asking_user import asking_user  # noqa: PLC0415 - see above

    asking = asking_user()
    if asking is not None:
        for one in (place.own, *collected.own_snapshots):
            asking.take(one)


def _places(
    directory: TraceDirectory, options: RecordingOptions
) -> tuple[TraceDirectory, Places]:
    """Return where programs are recorded to, and all places of the recording."""
    place, kernel = directory, None
    if options.is_rotated:
        # Archives are beside it.
        place = place.inner(PRESENT)
    if options.is_kernel_recorded:
        kernel = os.path.join(place.path, KERNEL)
        place = place.inner(PROGRAMS)
    return place, Places(place.path, directory.path, kernel)


class SentFiles:
    """Where a recording is that is sent while it is made.

    Args:
        whole: The directory that is emptied.
        kernel: The directory in it of the trace of the kernel.
        name: What the recording is called.
    """

    def __init__(self, whole: str, kernel: str, name: str) -> None:
        self.whole = whole
        self.kernel = kernel
        self.name = name
        self.hold: Callable[[bool], None] | None = None
        """Lets nothing be written for the moment; there once anything may be."""
