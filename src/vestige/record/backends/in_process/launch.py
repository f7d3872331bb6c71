"""Running a program as if nobody did: its signals, its open files, its exit status."""

from __future__ import annotations

import _thread
import os
import time

from ...._signals import signals
from ...._suppress import suppress
from ...._typing import TYPE_CHECKING
from ...process_stat import stat_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

__all__ = ["Handled", "LateSignals", "run"]

_PASSED_ON = (signals.SIGTERM, signals.SIGHUP, signals.SIGUSR1, signals.SIGUSR2)
_OF_THE_TERMINAL = (signals.SIGINT, signals.SIGQUIT)
_IGNORED_BY_PYTHON = (signals.SIGPIPE, signals.SIGXFSZ)
TOO_LATE = 1.0
"""Seconds from the end of a program in which signals of the terminal were for it."""
_LONGEST_HANDLER = 0.05
"""Seconds for which one waits at most for threads that may be handling a signal."""


def run(  # noqa: PLR0913 - facts, by name
    command: Sequence[str],
    environment: dict[str, str],
    *,
    begun: Callable[[int], object] | None = None,
    schedule: Iterable[tuple[float, Callable[[int], object]]] = (),
    bells: Sequence[tuple[int, Callable[[], object]]] = (),
    inherited: tuple[int, int] | None = None,
    own: Callable[[int, object], None] | None = None,
    started: Callable[[Callable[[], int]], int] | None = None,
    is_ours: bool = False,
) -> int:
    """Run a program and wait for its end.

    The terminal's signals are left to the program, and those that come to this process
    are passed on. The program keeps the files that this process has inherited.

    Args:
        command: The program and its arguments.
        environment: Its environment.
        begun: Called with the ID of the process once it runs.
        schedule: What is to be done while the program runs, and when: seconds from its
            start, ascending. It is called with the ID of the process.
        bells: Descriptors, and what is to be done when one of them is readable.
        inherited: A descriptor that it gets besides, and the number that it has there.
        own: Handles SIGUSR2, which is not passed on then.
        started: Calls what starts the program, from any thread, and returns its result.
        is_ours: Whether the terminal's signals that come to this process alone are
            passed on, too: nobody else knows of the program.

    Returns:
        Its exit status; 128 and the number of the signal that ended it.

    Raises:
        OSError: It cannot be started.
    """
    process: int | None = None
    early: list[int] = []

    def pass_on(number: int, _frame: object) -> None:
        if process is None:
            early.append(number)
            return
        with suppress(ProcessLookupError):
            os.kill(process, number)

    def look_at_child(_number: int, _frame: object) -> None:
        if process is not None:
            _stop_with(process)

    def spawn() -> int:
        return os.posix_spawnp(
            command[0],
            list(command),
            environment,
            file_actions=[(os.POSIX_SPAWN_DUP2, *inherited)] if inherited else [],
            setsigdef=_IGNORED_BY_PYTHON,
        )

    # Before the program starts: blocking signals would leave them to other threads.
    with (
        Handled(_PASSED_ON, pass_on),
        Handled(_OF_THE_TERMINAL, pass_on if is_ours else _leave),
        # The one before has handled it, too.
        Handled([] if own is None else [signals.SIGUSR2], own or pass_on),
    ):
        process = spawn() if started is None else started(spawn)
        for number in early:
            pass_on(number, None)
        # Not before: who starts a program blocks signals meanwhile, so another thread
        # would hear that the child of a vain attempt has ended, and might tell Python
        # only when it has forgotten the handler.
        with Handled([signals.SIGCHLD], look_at_child):
            # It may have been stopped before we knew its ID.
            _stop_with(process)
            if begun is not None:
                begun(process)
            if not _has_ended(process):
                _follow(schedule, process, dict(bells))
            _, status = os.waitpid(process, 0)
        _LastEnd.at = time.monotonic()
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _leave(_number: int, _frame: object) -> None:
    """Do nothing: it is for the program."""


class _LastEnd:
    at = float("-inf")
    """When a program has ended last."""


def _stop_with(process: int) -> None:
    """Stop if a child process was stopped; called whenever anything happened to it."""
    try:
        if os.waitid(os.P_PID, process, os.WSTOPPED | os.WNOHANG) is None:
            return
    except ChildProcessError:
        # That it has ended is left to others to find out.
        return
    # Most programs are never stopped.
    from .job_control import stop_with  # noqa: PLC0415 - see above

    stop_with(process)


def _has_ended(process: int) -> bool:
    """Tell whether a child process has ended; its status is there to be waited for."""
    options = os.WEXITED | os.WNOHANG | os.WNOWAIT
    with suppress(ChildProcessError):
        return os.waitid(os.P_PID, process, options) is not None
    return False


def _let_handlers_end() -> None:
    """Wait until no other thread of this process runs.

    The kernel gives a signal to any thread, and that may lose its processor while it is
    about to tell Python.
    """
    own, last = _thread.get_native_id(), time.monotonic() + _LONGEST_HANDLER
    with suppress(OSError):
        others = {int(one) for one in os.listdir("/proc/self/task")} - {own}
        while any(map(_is_running, others)) and time.monotonic() < last:
            time.sleep(0.0005)


def _is_running(thread: int) -> bool:
    """Tell whether a thread of this process has a processor, or waits for one."""
    return stat_words(thread)[:1] == ["R"]


class Handled:
    """Handles signals for a while, but those that are ignored: so the program has them.

    They are not ignored here, because the program would inherit that.

    Args:
        numbers: The signals.
        handler: Called with the number of one that comes, and a frame.
    """

    def __init__(
        self, numbers: Sequence[int], handler: Callable[[int, object], None]
    ) -> None:
        self._numbers = numbers
        self._handler = handler
        self._before: dict[int, Any] = {}

    def __enter__(self) -> None:
        for number in self._numbers:
            if signals.getsignal(number) not in {signals.SIG_IGN, None}:
                self._before[number] = signals.signal(number, self._handler)

    def __exit__(self, *_error: object) -> None:
        from .collector import act_by_default  # noqa: PLC0415 - loaded by now

        # Python says that it ignored a signal if one comes as it forgets its handler;
        # what came before this is still for ours.
        by_default = [n for n, one in self._before.items() if one == signals.SIG_DFL]
        for number in by_default:
            act_by_default(number)
        if by_default:
            _let_handlers_end()
        for number, one in self._before.items():
            signals.signal(number, one)


class LateSignals(Handled):
    """Takes signals of the terminal for the program's that come too late for it.

    Ctrl-C twice, or a wrapper that signals a program and then its group: the program
    ends by the first one, and the second must not end who closes its trace. Later ones
    do what they always do.
    """

    def __init__(self) -> None:
        super().__init__(_OF_THE_TERMINAL, self._take)

    def __enter__(self) -> None:
        # The program of a recording before this one is none of ours.
        _LastEnd.at = float("-inf")
        super().__enter__()

    def _take(self, number: int, _frame: object) -> None:
        if time.monotonic() - _LastEnd.at < TOO_LATE:
            return
        signals.signal(number, self._before[number])
        signals.raise_signal(number)


def _follow(
    schedule: Iterable[tuple[float, Callable[[int], object]]],
    process: int,
    bells: dict[int, Callable[[], object]],
) -> None:
    """Do what is to be done while a process runs."""
    started = time.monotonic()
    # As it runs: until then it would wait for this import.
    import select  # noqa: PLC0415 - see above

    try:
        handle = os.pidfd_open(process)
    except OSError:
        # Linux before 5.3, or forbidden.
        return
    try:
        ended = select.poll()
        for one in (handle, *bells):
            ended.register(one, select.POLLIN)
        for moment, do in schedule:
            rest = max(started + moment - time.monotonic(), 0)
            while ready := ended.poll(rest * 1000):
                for bell, _ in ready:
                    if bell == handle:
                        return
                    bells[bell]()
                rest = max(started + moment - time.monotonic(), 0)
            do(process)
    finally:
        os.close(handle)
