"""Where the ``vestige`` command begins and ends.

Ctrl-C ends it without a traceback, whenever it comes. While modules are imported, and
when the work is done, the signal itself does that; in between it is an exception, so
that verbs can put things in order.
"""

from __future__ import annotations

import os
import sys

from .._at_end import run_all
from .._signals import signals
from .._suppress import suppress
from .._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

__all__ = ["entry_point"]

_WITHOUT_PARSER = (["lttng"], ["record"])
"""The beginnings of command lines most of which are read without it."""


def entry_point(run: Callable[[], int] | None = None, interrupted: int = 0) -> NoReturn:
    """Run the command line of this process and exit.

    What was opened is closed by now and what was written is flushed. Handing back
    memory piece by piece takes longer than reading a small trace: the process ends.
    """
    # Before all imports, which leave nothing to collect.
    _collect_garbage_seldom()
    # A shell that starts it in the background lets it ignore the signal.
    is_interruptible = signals.getsignal(signals.SIGINT) is signals.default_int_handler
    if is_interruptible:
        signals.signal(signals.SIGINT, signals.SIG_DFL)
    _open_closed_streams()
    if (
        run is None
        and sys.argv[1:2] == ["lttng"]
        and sys.argv[2:3] not in (["-h"], ["--help"])
    ):
        from .lttng.start import run_and_exit

        run_and_exit(sys.argv[2:])
    # It imports most of what there is to import, and that takes a while.
    from .exit_statuses import INTERRUPTED
    from .main import load_parser, main
    from .terminal import make_all_text_printable

    if sys.argv[1:2] not in _WITHOUT_PARSER:
        load_parser()
    make_all_text_printable()
    try:
        if is_interruptible:
            signals.signal(signals.SIGINT, signals.default_int_handler)
        status = (run or main)()
    except KeyboardInterrupt:
        status = interrupted or INTERRUPTED
    if is_interruptible:
        signals.signal(signals.SIGINT, signals.SIG_DFL)
    run_all()
    # What could not be written stays in the buffer of some versions of Python.
    with suppress(OSError):
        sys.stderr.flush()
    os._exit(status)


def _collect_garbage_seldom() -> None:
    """Answers are many, live long and refer to each other in no circle."""
    import gc

    gc.set_threshold(200_000, 20, 100)


def _open_closed_streams() -> None:
    """Put something in place of standard streams that were closed (``<&-``).

    Python has ``None`` for them. What is there instead fails when it is used, with the
    error of a closed file, and no file that is opened later takes their numbers.
    """
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_WRONLY), closefd=False)
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", closefd=False)
    if sys.stderr is None:  # print() would write its lines to standard output
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", closefd=False)
