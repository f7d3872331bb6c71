"""``vestige record``: run a program and record it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from ..._typing import TYPE_CHECKING
from ..context_arguments import add_context_arguments
from ..durations import period
from ..event_rule_arguments import add_event_rule_arguments, add_function_arguments
from ..exit_statuses import RECORDING
from ..memory_arguments import add_memory_arguments
from ..min_duration import nanoseconds
from ..patch_arguments import add_patch_arguments
from ..python_function_arguments import add_python_arguments

if TYPE_CHECKING:
    from typing import Any

__all__ = ["RecordCommand"]

LIVE_PERIOD = 0.1
"""Seconds: who watches takes it for at once, and a packet a thread costs little."""

_HELPERS = {
    "libc": "malloc, calloc, realloc, free, memalign and posix_memalign",
    "pthread": "pthread_mutex_lock, pthread_mutex_trylock and pthread_mutex_unlock",
    "dl": "dlopen, dlmopen and dlclose",
}


class _AddPids(argparse.Action):
    """Adds process IDs."""

    def __call__(
        self,
        _parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        _option: str | None = None,
    ) -> None:
        pids = [*getattr(namespace, self.dest)]
        for word in str(values).split(","):
            if not (word.isascii() and word.isdigit()) or not 0 < int(word) < 1 << 31:
                raise argparse.ArgumentError(self, f"'{word}': expected a process ID")
            if int(word) not in pids:
                pids.append(int(word))
        setattr(namespace, self.dest, pids)


def _duration(text: str) -> int:
    """Return after how many nanoseconds a recording ends."""
    found = nanoseconds(text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text}: expected a time above 0")
    return found


class _AddWords(argparse.Action):
    """Adds words with commas between them."""

    def __call__(
        self,
        _parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        _option: str | None = None,
    ) -> None:
        words = [word.strip() for word in str(values).split(",")]
        if not all(words):
            raise argparse.ArgumentError(self, f"'{values}': expected names of events")
        before = getattr(namespace, self.dest)
        setattr(namespace, self.dest, [*before, *words])


class RecordCommand:
    """Runs a program with the tracer in it."""

    name = "record"
    description = (
        "Run PROGRAM and record it: the calls of functions that were compiled with "
        "-finstrument-functions or -fpatchable-function-entry, or of any (--patch), "
        "tracepoints, calls of the C library (--libc, "
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
  vestige record --patch -- sqlite3 :memory: 'select 1'    not compiled for it
  vestige record -c none -- ./app                   14 bytes a call, not 34
  vestige record -e 'ust_baddr:*' --functions -- ./app
  vestige record -e 'app:*' --exclude 'app:debug_*' --loglevel INFO -- ./app
  vestige record -e app:read --filter 'size > 4096 && path == "/srv/*"' -- ./app
  vestige record --python -e my-logger --loglevel WARNING -- python3 app.py
  vestige record --python-functions --only-my-code -- python3 app.py
  vestige record --no-follow-fork -- make           only make itself
  vestige record --libc --pthread -- ./app          memory and mutexes, too
  vestige record --kernel=syscalls,sched -- ./app   the kernel beside it, as root
  vestige record --kernel=sched --duration 10s      the machine alone
  vestige record -p $(pidof app)                    a program that runs, until Ctrl-C
  vestige record -p 4242 -e 'app:*' --duration 10s
  vestige record --rotate=1G --keep=5 -- ./server   the newest gigabytes
  vestige record --live -- ./server                 watched: vestige view --follow DIR
  vestige record --session NAME -- ./app            into a session of 'vestige lttng'
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
        parser.add_argument(
            "--to",
            metavar="URL",
            help="send the trace to a relay daemon: net://HOST[:PORT[:PORT]][/DIR]; "
            "nothing is written here, and the program never waits for the network",
        )
        parser.add_argument(
            "-p",
            "--pid",
            dest="pids",
            metavar="PID[,PID]...",
            action=_AddPids,
            default=[],
            help="start nothing: join programs that run and have a tracer, LTTng-UST's "
            "or Vestige's, until Ctrl-C or their end (repeatable)",
        )
        parser.add_argument(
            "--duration",
            metavar="TIME",
            type=_duration,
            help="end after TIME, such as 10s: a program that was started gets SIGTERM "
            "then",
        )
        parser.add_argument(
            "--session",
            metavar="NAME",
            help="record PROGRAM into the session NAME of the session daemon, as "
            "'vestige lttng' or vestige.Session made it",
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
            "--kernel",
            metavar="EVENT[,EVENT]...",
            action=_AddWords,
            default=[],
            help="record the kernel, too, for all processes: syscalls, sched, irq, "
            "block, net or another system, a pattern of events by LTTng's names, "
            "syscalls:PATTERN, or all (repeatable; for root)",
        )
        parser.add_argument(
            "--kernel-probe",
            metavar="[NAME=]PLACE",
            action="append",
            default=[],
            help="record each time that something gets to a place, in all processes: "
            "elf:PATH:FUNCTION, or sdt:PATH:PROVIDER:NAME for a place that a program "
            "marks (USDT); SYMBOL[+OFFSET] of the kernel, or function:SYMBOL for "
            "entry and exit of one of its functions (repeatable; for root)",
        )
        parser.add_argument(
            "--kernel-context",
            metavar="NAME[,NAME]...",
            action=_AddWords,
            default=[],
            help="add these context fields to each event of the kernel: pid, procname, "
            "ppid, vpid, prio, uid, callstack-kernel, perf:cpu:COUNTER or another of "
            "lttng-add-context (repeatable)",
        )
        parser.add_argument(
            "--kernel-filter",
            metavar="EXPRESSION",
            help="record only events of the kernel for which this is true: their "
            "fields and $ctx.NAME, as in lttng-enable-event(1)",
        )
        parser.add_argument(
            "--kernel-of",
            choices=("machine", "program"),
            default="machine",
            help="whose events of the kernel: those of all processes (machine, the "
            "default), or of PROGRAM and all that it starts, with what switches to "
            "them or wakes them (program; as strace -f)",
        )
        parser.add_argument(
            "--kernel-logger",
            metavar="PATH",
            help="make a pipe while the program runs: each line that any user writes "
            "to it is an event lttng_logger (for root)",
        )
        parser.add_argument(
            "--keep-lttng",
            action="store_true",
            help="leave LTTng-UST's library in programs that were compiled with it, so "
            "that LTTng records them, too",
        )
        add_function_arguments(parser)
        add_patch_arguments(parser)
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
        parser.add_argument(
            "--inherit-socket",
            action="store_true",
            help="give programs a descriptor (a high number) that leads to the "
            "recorder: needed in a network namespace of their own (containers, "
            "sandboxes), if they have another /dev/shm or another user",
        )
        add_memory_arguments(parser)
        parser.add_argument(
            "--max-size",
            metavar="SIZE",
            help="maximum size of the whole recording, with k, M or G "
            "(default: no limit; 256M with --mode=overwrite)",
        )
        parser.add_argument(
            "--snapshot-on-crash",
            action="store_true",
            help="with --mode=overwrite: copy what was kept to DIR-crash-DATE-TIME-N "
            "if PROGRAM crashes, or a process that it starts; SIGUSR2 to the recorder "
            "and 'vestige snapshot DIR' copy it at any time",
        )
        parser.add_argument(
            "--rotate",
            metavar="SIZE|TIME",
            help="after so many bytes (with k, M or G) or after TIME (such as 10s or "
            "5m), make what was recorded a trace of its own, in DIR/archives; what is "
            "recorded now is in DIR/present",
        )
        parser.add_argument(
            "--keep",
            metavar="N",
            type=int,
            help="with --rotate: keep only the N newest of those traces",
        )
        parser.add_argument(
            "--live",
            metavar="PERIOD",
            nargs="?",
            type=period,
            const=LIVE_PERIOD,
            help="let others watch with 'vestige view --follow DIR' while it runs: "
            "write what was recorded after each PERIOD, such as 20ms (default: "
            f"{LIVE_PERIOD * 1000:.0f}ms), also what fills no packet",
        )
        parser.add_argument(
            "-q",
            "--quiet",
            action="store_true",
            help="print no summary at the end, but warnings of what is missing or lost",
        )
        parser.add_argument(
            "--recover",
            metavar="DIR",
            type=Path,
            help="run nothing: write what the killed recording DIR has left in memory",
        )
        parser.add_argument(
            "program",
            metavar="PROGRAM",
            nargs="?",
            help="the program to run; with --kernel there may be none: the machine "
            "alone is recorded then, until Ctrl-C or --duration",
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
        # The help does not wait for them, and one is enough.
        joins = options.pids or options.session is not None or options.recover
        if options.to is not None and joins:
            options.refuse("--to: expected a program that is started")
        if options.pids:
            from ..joining import run
        elif options.session is not None:
            from ..session_program import run
        else:
            from ..recording import run

        return run(options)
