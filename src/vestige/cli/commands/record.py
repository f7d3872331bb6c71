"""``vestige record``: run a program and record it."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..context_arguments import add_context_arguments
from ..event_rule_arguments import add_event_rule_arguments, add_function_arguments
from ..exit_statuses import RECORDING
from ..memory_arguments import add_memory_arguments
from ..python_function_arguments import add_python_arguments

__all__ = ["RecordCommand"]

_HELPERS = {
    "libc": "malloc, calloc, realloc, free, memalign and posix_memalign",
    "pthread": "pthread_mutex_lock, pthread_mutex_trylock and pthread_mutex_unlock",
    "dl": "dlopen, dlmopen and dlclose",
}


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
        # The help does not wait for it.
        from ..recording import run

        return run(options)
