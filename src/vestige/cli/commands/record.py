"""``vestige record``: run a program and record it."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ..._typing import TYPE_CHECKING
from ...errors import CommandError, ProgramError, RecordError, SelectionError
from ...plain_text import plain
from ..context_arguments import add_context_arguments
from ..event_rule_arguments import add_event_rule_arguments, add_function_arguments
from ..exit_statuses import WRONG_USAGE, ExitStatuses
from ..memory_arguments import add_memory_arguments, parse_size
from ..newest_recording import remember
from ..open_files import allow_many_files
from ..python_function_arguments import add_python_arguments

if TYPE_CHECKING:
    from ...record import RecordingOptions

__all__ = ["RecordCommand"]

FAILED, CANNOT_START, NOT_FOUND = 125, 126, 127
"""Exit statuses, as env(1) and timeout(1) have them: a program's own are lower."""

_HELPERS = {
    "libc": "malloc, calloc, realloc, free, memalign and posix_memalign",
    "pthread": "pthread_mutex_lock, pthread_mutex_trylock and pthread_mutex_unlock",
    "dl": "dlopen, dlmopen and dlclose",
}


RECORDING = ExitStatuses(
    {
        "": "that of PROGRAM; 128 and the number of the signal that ended it; or",
        FAILED: "the recording cannot begin: no tracer, or no place for the trace",
        CANNOT_START: "PROGRAM is found and cannot be started",
        NOT_FOUND: "PROGRAM is not found",
        WRONG_USAGE: "wrong usage",
    },
    failed=FAILED,
)


class RecordCommand:
    """Runs a program with the tracer in it."""

    name = "record"
    description = (
        "Run PROGRAM and record it: the calls of functions that were compiled with "
        "-finstrument-functions, tracepoints, calls of the C library (--libc, "
        "--pthread, --dl), and the log records, spans and functions of Python "
        "programs. No daemon and no privileges are needed. The program keeps its "
        "terminal and signals, and its exit status is that of this command."
    )
    examples = """\
examples:
  vestige record ./app --its-option     options of the program come after its name
  vestige record -o trace -- ./app
  vestige view trace                    each call with its source line
  vestige report trace                  which functions took the time

  vestige record --include-function 'parse_*' -- ./app
  vestige record --exclude-function 'std::*' -- ./app
  vestige record --functions=verbose -- ./app       with call sites
  vestige record -c none -- ./app                   14 bytes a call, not 34
  vestige record -e 'ust_baddr:*' --functions -- ./app
  vestige record -e 'app:*' --exclude 'app:debug_*' --loglevel INFO -- ./app
  vestige record -e app:read --filter 'size > 4096 && path == "/srv/*"' -- ./app
  vestige record --python -e my-logger --loglevel WARNING -- python3 app.py
  vestige record --python-functions --only-my-code -- python3 app.py
  vestige record --no-follow-fork -- make           only make itself
  vestige record --libc --pthread -- ./app          memory and mutexes, too
"""
    exit_statuses = RECORDING

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument(
            "-o",
            "--output",
            metavar="DIR",
            type=Path,
            help="write the trace to DIR (default: vestige-traces/NAME-DATE-TIME in "
            "$VESTIGE_HOME or $HOME)",
        )
        add_event_rule_arguments(parser)
        parser.add_argument(
            "--functions",
            nargs="?",
            choices=("fast", "verbose", "off"),
            const="fast",
            help="record function calls: the address at the entry only (fast, the "
            "default), or address and call site at entry and exit (verbose); off: none",
        )
        for name, what in _HELPERS.items():
            parser.add_argument(
                f"--{name}",
                dest="helpers",
                action="append_const",
                const=name,
                default=[],
                help=f"record each call of {what} as lttng_ust_{name}:*",
            )
        parser.add_argument(
            "--keep-lttng",
            action="store_true",
            help="leave LTTng-UST's library in programs that were compiled with it, so "
            "that LTTng records them, too",
        )
        add_function_arguments(parser)
        add_python_arguments(parser)
        parser.add_argument(
            "--python-tracebacks",
            action="store_true",
            help="record the tracebacks of exceptions that Python programs log",
        )
        add_context_arguments(parser)
        parser.add_argument(
            "--follow-fork",
            action=argparse.BooleanOptionalAction,
            default=True,
            help="record child processes as well (the default)",
        )
        add_memory_arguments(parser)
        parser.add_argument(
            "--max-size",
            metavar="SIZE",
            help="maximum size of the whole recording, with k, M or G "
            "(default: no limit; 256M with --mode=overwrite)",
        )
        parser.add_argument(
            "-q", "--quiet", action="store_true", help="print no summary at the end"
        )
        parser.add_argument(
            "--recover",
            metavar="DIR",
            type=Path,
            help="run nothing: write what the killed recording DIR has left in memory",
        )
        parser.add_argument(
            "program", metavar="PROGRAM", nargs="?", help="the program to run"
        )
        parser.set_defaults(refuse=parser.error)
        arguments = parser.add_argument(
            "arguments",
            metavar="ARGS",
            nargs=argparse.REMAINDER,
            help="its arguments",
        )
        # The parser takes it for required, and would say so of none at all.
        arguments.required = False

    def run(self, options: argparse.Namespace) -> int:
        """Record the program; return its exit status."""
        from ...record import RecordingOptions, record

        if options.recover is not None:
            return _recover(options)
        if options.program is None:
            options.refuse("the following arguments are required: PROGRAM")
        for line in options.old_names:
            print(f"vestige: warning: {line}", file=sys.stderr)
        if options.has_loggers and not any(rule.is_logger for rule in options.event):
            raise CommandError(
                "--python: expected '-e LOGGER' after it; without any -e the whole log "
                "is recorded",
                exit_code=2,
            )
        try:
            wanted = RecordingOptions(
                functions=options.functions,
                contexts=_contexts(options.context),
                buffer_size=parse_size(options.buffer_size, "--buffer-size"),
                arena_size=parse_size(options.arena_size, "--arena-size"),
                timeout=options.timeout,
                events=tuple(options.event),
                include=tuple(options.include_function),
                exclude=tuple(options.exclude_function),
                follow_fork=options.follow_fork,
                helpers=tuple(options.helpers),
                keep_lttng=options.keep_lttng,
                mode=options.mode,
                max_size=options.max_size
                and parse_size(options.max_size, "--max-size"),
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
            raise CommandError(str(error), exit_code=2) from error
        command = [options.program, *options.arguments]
        is_chosen_here = _wants_python_functions(wanted, command)
        if is_chosen_here:
            wanted = RecordingOptions(
                **{**wanted._asdict(), "python_functions": "python"}
            )
        _warn_of_rules(wanted, options.program)
        output = options.output or _default_output(options.program)
        try:
            recording = record(command, output, wanted)
        except ProgramError as error:
            status = CANNOT_START if error.is_found else NOT_FOUND
            raise CommandError(str(error), exit_code=status) from error
        except RecordError as error:
            raise CommandError(str(error), exit_code=FAILED) from error
        remember(recording.directory)
        if not options.quiet:
            # Reading what was recorded needs the Rust core; starting the program does
            # not wait for it.
            from ..render.recording import recording_lines

            # The program had the limit that it was given.
            allow_many_files()
            _say(recording_lines(recording, is_python_by_default=is_chosen_here))
        return recording.status


def _recover(options: argparse.Namespace) -> int:
    """Write what a killed recording has left; return the exit status."""
    from ...record.backends.in_process.recovery import recover

    if options.program is not None:
        raise CommandError(
            f"--recover: expected no program, found {options.program}",
            exit_code=WRONG_USAGE,
        )
    try:
        found = recover(options.recover)
    except RecordError as error:
        raise CommandError(str(error), exit_code=FAILED) from error
    if options.quiet:
        return 0
    packets = sum(one.packets for one in found)
    lost = sum(one.lost for one in found)
    lines = [line for one in found for line in one.problems]
    if not found:
        lines.append("nothing to recover")
    else:
        text = f"{lost:,} events lost" if lost else "no events lost"
        lines.append(f"recovered {packets:,} packets; {text}")
    if not all(one.is_drained for one in found):
        lines.append("not all could be written: make room, and recover again")
    _say(f"vestige: {line}" for line in lines)
    return 0


def _wants_python_functions(wanted: RecordingOptions, command: list[str]) -> bool:
    """Tell whether functions of a Python program are the only thing to record."""
    from ...inspect.python_detection import is_python_program
    from ...inspect.python_diagnosis import why_isolated

    choices = (
        wanted.functions,
        wanted.events,
        wanted.include,
        wanted.exclude,
        wanted.helpers,
        wanted.python_functions,
    )
    if any(choices) or not is_python_program(command[0], os.environ.get("PATH")):
        return False
    # Whoever isolates an interpreter wants nothing in it unless it is asked for.
    return why_isolated(command) is None


def _warn_of_rules(wanted: RecordingOptions, program: str) -> None:
    """Say which rules can take no event, as far as that is known."""
    if not wanted.events:
        return
    from ...record.rules.impossible import impossible_rules
    from ...record.rules.program_rules import doubtful_rules

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


def _contexts(text: str) -> tuple[str, ...]:
    names = [name.strip() for name in text.split(",")]
    # With others, it is no context, and refused as such.
    return tuple(name for name in names if name) if names != ["none"] else ()


def _default_output(program: str) -> Path:
    home = os.environ.get("VESTIGE_HOME") or os.environ.get("HOME")
    if not home:
        home = os.fspath(Path.cwd())
        print(
            "vestige: warning: neither VESTIGE_HOME nor HOME is set: the trace goes to "
            f"{home}/vestige-traces; --output=DIR chooses another place",
            file=sys.stderr,
        )
    # Readers take no path that is not UTF-8.
    base = Path(program).name.encode(errors="replace").decode()
    name = f"{base}-{time.strftime('%Y%m%d-%H%M%S')}"
    path = Path(home) / "vestige-traces" / name
    number = 1
    # What may not be looked at is told of when it is made.
    with suppress(OSError):
        while path.exists():
            number += 1
            path = path.with_name(f"{name}-{number}")
    return path
