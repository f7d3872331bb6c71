"""Recording a program from the command line, by options that were read already.

Nothing here needs the parser: see :mod:`.plain_recording`.
"""

from __future__ import annotations

import errno
import os
import sys
import time

from .._suppress import suppress
from .._typing import TYPE_CHECKING
from ..errors import CommandError, ProgramError, RecordError, SelectionError
from ..plain_text import plain
from ..record.backends.in_process.launch import LateSignals
from ..record.recorder import run_and_record
from ..record.rules.options import RecordingOptions
from ..record.trace_directory import KERNEL
from .doubts import Doubts, quiet_lines
from .exit_statuses import CANNOT_START, FAILED, NOT_FOUND, WRONG_USAGE
from .recorded_status import recorded_status
from .sizes import parse_size

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Sequence

    from ..record.collected import Collected
    from ..record.recorder import Recording
    from .plain_recording import PlainOptions

__all__ = ["contexts_of", "default_output", "run"]

FEW_STREAMS = 4
"""Data streams that can be read whatever the limit: a recording needs more files."""
_TOLD = "told"
"""The text that has what was said of recordings that were killed."""
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - see shm_overview(7)


def run(options: argparse.Namespace | PlainOptions) -> int:
    """Record a program.

    Args:
        options: The command line.

    Returns:
        The exit status.

    Raises:
        CommandError: It cannot be recorded as asked.
    """
    if options.recover is not None:
        return _recover(options)
    if options.program is None:
        # Few recordings are without.
        from .machine_recording import check_machine_options

        check_machine_options(options)
    for line in options.old_names:
        print(f"vestige: warning: {line}", file=sys.stderr)
    wanted = _wanted(options)
    command: list[str] = []
    is_chosen_here = False
    if options.program is not None:
        command = [options.program, *options.arguments]
        is_chosen_here = _wants_python_functions(wanted, command)
    if is_chosen_here:
        wanted = RecordingOptions(**{**wanted._asdict(), "python_functions": "python"})
    _warn_of_buffer(wanted, options.buffer_size)
    _warn_of_rules(wanted, options.program)
    with LateSignals():
        if options.to is not None:
            from .sent_recording import run_sent

            return run_sent(options, wanted, tuple(command))
        return _run(options, wanted, command, is_chosen_here=is_chosen_here)


def _run(
    options: argparse.Namespace | PlainOptions,
    wanted: RecordingOptions,
    command: Sequence[str],
    *,
    is_chosen_here: bool,
) -> int:
    """Record to a directory, and say what was recorded."""
    output = options.output or default_output(options.program or KERNEL)
    doubts = Doubts()
    try:
        recording = run_and_record(
            tuple(command),
            output,
            wanted,
            lambda: _meanwhile(output, options),
            doubted=doubts.say,
        )
    except ProgramError as error:
        status = CANNOT_START if error.is_found else NOT_FOUND
        raise CommandError(str(error), exit_code=status) from error
    except RecordError as error:
        raise CommandError(str(error), exit_code=FAILED) from error
    from .newest_recording import remember

    remember(recording)
    if not options.quiet:
        _say(_lines(recording, doubts, is_chosen_here=is_chosen_here))
    else:
        _say(quiet_lines(recording.collected, doubts))
    _say(_abandoned_lines(os.fspath(recording), is_quiet=options.quiet))
    return recorded_status(recording)


def _lines(
    recording: Recording, doubts: Doubts, *, is_chosen_here: bool
) -> Iterator[str]:
    """Return what is said at the end."""
    if not recording.command:
        # Few recordings are without a program.
        from .render.machine_recording import machine_lines

        return machine_lines(recording, doubts.said)
    from .render.recording import recording_lines

    if recording.collected.streams > FEW_STREAMS:
        from .open_files import allow_many_files

        # The program had the limit that it was given.
        allow_many_files(recording.collected.streams)
    return recording_lines(
        recording, is_python_by_default=is_chosen_here, said=doubts.said
    )


def _meanwhile(
    output: str | os.PathLike[str], options: argparse.Namespace | PlainOptions
) -> object:
    """Note which recording runs, for who follows it; import what its end needs."""
    from .newest_recording import remember

    remember(os.path.abspath(output))
    if options.program is None:
        from .machine_recording import say_how_it_ends

        say_how_it_ends(options)
    return None if options.quiet else _load_summary()


def _load_summary() -> object:
    """Import what reads the recording, and the Rust core."""
    # Whatever is wrong with it is said when it is used: the program runs already.
    with suppress(ImportError):
        from .render.recording import recording_lines

        return recording_lines
    return None


def _wanted(options: argparse.Namespace | PlainOptions) -> RecordingOptions:
    if options.has_loggers and not any(rule.is_logger for rule in options.event):
        raise CommandError(
            "--python: expected '-e LOGGER' after it; without any -e the whole log is "
            "recorded",
            exit_code=WRONG_USAGE,
        )
    try:
        rotate_seconds, rotate_size = _rotation(options)
        return RecordingOptions(
            functions=options.functions,
            contexts=contexts_of(options.context),
            buffer_size=parse_size(options.buffer_size, "--buffer-size"),
            arena_size=options.arena_size
            and parse_size(options.arena_size, "--arena-size"),
            timeout=options.timeout,
            events=tuple(options.event),
            include=tuple(options.include_function),
            exclude=tuple(options.exclude_function),
            library_calls=_patterns(options.library_calls),
            patch=_patterns(options.patch),
            patch_in=tuple(options.patch_in),
            patch_wait=options.patch_wait,
            entries_only=options.entries,
            probes=tuple(options.probe),
            follow_fork=options.follow_fork,
            helpers=tuple(options.helpers),
            keep_lttng=options.keep_lttng,
            kernel=tuple(options.kernel),
            kernel_probes=tuple(options.kernel_probe),
            kernel_contexts=tuple(options.kernel_context),
            kernel_filter=options.kernel_filter,
            kernel_of=options.kernel_of,
            kernel_logger=options.kernel_logger
            and os.path.abspath(options.kernel_logger),
            inherit_socket=options.inherit_socket,
            mode=options.mode,
            max_size=options.max_size and parse_size(options.max_size, "--max-size"),
            snapshot_on_crash=options.snapshot_on_crash,
            duration=(options.duration or 0) / 1e9,
            rotate_seconds=rotate_seconds,
            rotate_size=rotate_size,
            keep_archives=options.keep or 0,
            live=options.live or 0.0,
            python_functions=options.python_functions
            or ("python" if options.python_arguments else None),
            python_arguments=options.python_arguments,
            python_gc=options.python_gc,
            only_my_code=options.only_my_code,
            min_duration=options.min_duration or 0,
            max_depth=options.max_depth,
            python_tracebacks=options.python_tracebacks,
        )
    except SelectionError as error:
        text = error.on_command_line or str(error)
        raise CommandError(text, exit_code=WRONG_USAGE) from error


def _rotation(options: argparse.Namespace | PlainOptions) -> tuple[float, int]:
    """Return after how many seconds, and after how many bytes, a chunk is archived."""
    if options.keep is not None and (options.rotate is None or options.keep < 1):
        raise CommandError(
            "--keep: expected a number of traces, with --rotate", exit_code=WRONG_USAGE
        )
    if options.rotate is None:
        return 0.0, 0
    # Few recordings have any.
    from .durations import parse_seconds

    text = str(options.rotate)
    if text[-1:] in {"s", "m"} and (seconds := parse_seconds(text)):
        return seconds, 0
    size = parse_size(text, "--rotate")
    if size == 0:
        raise CommandError(
            f"--rotate: {text}: expected a size such as 1G, or a time such as 5m",
            exit_code=WRONG_USAGE,
        )
    return 0.0, size


def _patterns(patch: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return patterns that an option may lack; none for all there is."""
    if patch is None:
        return None
    return () if "" in patch else tuple(patch)


def _recover(options: argparse.Namespace | PlainOptions) -> int:
    """Write what a killed recording has left; return the exit status."""
    from ..record.backends.in_process.recovery import recover

    if options.program is not None:
        raise CommandError(
            f"--recover: expected no program, found {options.program}",
            exit_code=WRONG_USAGE,
        )
    directory = options.recover
    if not os.path.exists(f"{directory}/metadata"):
        # Of a recording in parts, the present one; of one with the kernel, programs.
        for name in ("present", "ust"):
            inner = os.path.join(directory, name)
            directory = inner if os.path.isdir(inner) else directory
    try:
        found = recover(directory)
    except RecordError as error:
        raise CommandError(str(error), exit_code=FAILED) from error
    is_whole = all(one.is_drained for one in found)
    if options.quiet:
        return 0 if is_whole else FAILED
    packets = sum(one.packets for one in found)
    lost = sum(one.lost for one in found)
    lines = [line for one in found for line in one.problems]
    if not found:
        lines.append("nothing to recover")
    else:
        text = f"{lost:,} events lost" if lost else "no events lost"
        lines.append(f"recovered {packets:,} packets; {text}")
    if not is_whole:
        lines.append(f"not all could be written: {_remedy(found)}")
    _say(f"vestige: {line}" for line in lines)
    return 0 if is_whole else FAILED


def _remedy(found: Sequence[Collected]) -> str:
    """Say what keeps a recording from being recovered, and what helps."""
    failures = [one.failure for one in found if one.failure is not None]
    if not failures:
        return "recover again"
    code, text = failures[0]
    if code in {errno.ENOSPC, errno.EDQUOT}:
        return f"{text}: make room, and recover again"
    return f"{text}: recover again when they can be"


def _wants_python_functions(wanted: RecordingOptions, command: Sequence[str]) -> bool:
    """Tell whether functions of a Python program are the only thing to record."""
    from ..inspect.python_detection import is_python_program

    choices = (
        wanted.functions,
        wanted.events,
        wanted.include,
        wanted.exclude,
        wanted.patch is not None,
        wanted.helpers,
        wanted.python_functions,
    )
    if any(choices) or not is_python_program(command[0], os.environ.get("PATH")):
        return False
    from ..inspect.python_diagnosis import why_isolated

    # Whoever isolates an interpreter wants nothing in it unless it is asked for.
    return why_isolated(command) is None


def _warn_of_buffer(wanted: RecordingOptions, size: str) -> None:
    """Say that a thread has more than was asked for."""
    if wanted.ring_bytes > wanted.buffer_size:
        line = (
            f"vestige: warning: --buffer-size={size} is rounded up to "
            f"{wanted.ring_bytes}, {wanted.ring_size} packets of "
            f"{wanted.chunk_size} bytes"
        )
        _say([line])


def _warn_of_rules(wanted: RecordingOptions, program: str | None) -> None:
    """Say which rules can take no event, as far as that is known."""
    if not wanted.events or program is None:
        return
    from ..record.rules.impossible import impossible_rules
    from ..record.rules.program_rules import doubtful_rules

    rules = wanted.given_rules()
    _say(
        f"vestige: warning: {line}"
        for line in (*impossible_rules(rules), *doubtful_rules(rules, program))
    )


def _say(lines: Iterable[str]) -> None:
    """Print what is known: whatever happens, the exit status is that of the program."""
    with suppress(OSError):
        try:
            for line in lines:
                print(plain(line), file=sys.stderr)
        except FileNotFoundError as error:
            name = plain(str(error.filename))
            print(f"vestige: error: {name}: it is gone", file=sys.stderr)


def _abandoned_lines(own: str, *, is_quiet: bool) -> Iterator[str]:
    """Clear away memory of recordings that were killed; say what is left of it."""
    start = f"vestige-{os.geteuid()}-"
    names: list[str] = []
    # It may not be there.
    with suppress(OSError):
        names = os.listdir(_SHARED_MEMORY)
    if not any(name.startswith(start) for name in names):
        return
    # Nobody else has any, as a rule.
    from .kept_text import keep_text, kept_text
    from .render.abandoned import abandoned_lines

    kept = kept_text(_TOLD) or b""
    before = {os.fsdecode(one) for one in kept.split(b"\0") if one}
    told = {*before}
    lines = abandoned_lines(own, told)
    if not is_quiet:
        yield from lines
        if told != before:
            keep_text(_TOLD, b"\0".join(os.fsencode(one) for one in sorted(told)))


def contexts_of(text: str) -> tuple[str, ...]:
    """Return the contexts that an option names.

    Args:
        text: Their names with commas between them, or ``none``.
    """
    names = [name.strip() for name in text.split(",")]
    # With others, it is no context, and refused as such.
    return tuple(name for name in names if name) if names != ["none"] else ()


def default_output(program: str) -> str:
    """Return where a trace goes if no option says so.

    Args:
        program: What is recorded: a path, or its last part.
    """
    home = os.environ.get("VESTIGE_HOME") or os.environ.get("HOME")
    if not home:
        home = os.getcwd()
        print(
            "vestige: warning: neither VESTIGE_HOME nor HOME is set: the trace goes to "
            f"{home}/vestige-traces; --output=DIR chooses another place",
            file=sys.stderr,
        )
    # Readers take no path that is not UTF-8.
    base = os.path.basename(program.rstrip("/")).encode(errors="replace").decode()
    place = os.path.join(
        home, "vestige-traces", f"{base}-{time.strftime('%Y%m%d-%H%M%S')}"
    )
    path = place
    number = 1
    # What may not be looked at is told of when it is made.
    while os.path.exists(path):
        number += 1
        path = f"{place}-{number}"
    return path
