"""``vestige record -p``: recording programs that run, until somebody says enough."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from shutil import rmtree

from .._typing import TYPE_CHECKING
from ..control.joining import LARGEST_BUFFER, join
from ..control.processes import process_name
from ..errors import (
    CommandError,
    DaemonRunsError,
    SelectionError,
    SessionError,
    VestigeError,
)
from ..record.trace_directory import TraceDirectory
from .exit_statuses import FAILED, WRONG_USAGE
from .newest_recording import remember
from .recording import contexts_of, default_output
from .recording_end import how_to_end, say, until_when
from .sizes import parse_size
from .unfit_options import NOT_HERE, check_options

if TYPE_CHECKING:
    import argparse
    from typing import NoReturn

__all__ = ["run"]

_ENDING: tuple[int, ...] = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
WHY = "it is for programs that are started"


def run(options: argparse.Namespace) -> int:
    """Record programs that run.

    Args:
        options: The command line, with ``pids``.

    Returns:
        The exit status.

    Raises:
        CommandError: They cannot be recorded as asked.
    """
    check_options(options, "-p", {**NOT_HERE, "session": "--session"}, WHY)
    if options.mode == "overwrite":
        raise CommandError(
            "-p: expected no --mode=overwrite: programs that run drop their newest "
            "events when buffers are full",
            exit_code=WRONG_USAGE,
        )
    if options.program is not None:
        options.refuse(f"-p: expected no program, found {options.program}")
    names = {pid: process_name(pid) for pid in options.pids}
    buffer_size = _buffer_size(options.buffer_size)
    output = options.output or default_output(names[options.pids[0]] or "joined")
    with ExitStack() as stack, _unwinding_signals():
        try:
            place = TraceDirectory(output)
            stack.callback(place.take_back)
            # The place was empty: a session that could not begin has made this.
            stack.callback(rmtree, f"{place.path}/ust", ignore_errors=True)
            session = join(
                options.pids,
                place.path,
                rules=options.event,
                contexts=contexts_of(options.context),
                buffer_size=buffer_size,
                waiting=lambda pids: say(options, [_waiting_line(pids, names)]),
            )
        except SelectionError as error:
            raise CommandError(str(error), exit_code=WRONG_USAGE) from error
        except DaemonRunsError as error:
            whose = f", process {error.pid}," if error.pid else ""
            raise CommandError(
                f"another session daemon{whose} has the programs of this user: end it, "
                "or record with its 'lttng'",
                exit_code=FAILED,
            ) from error
        except VestigeError as error:
            raise CommandError(str(error), exit_code=FAILED) from error
        stack.pop_all()
    started = time.monotonic()
    who = ", ".join(f"{pid} ({names[pid]})" for pid in options.pids)
    until = until_when(options)
    try:
        with session, ending_signals() as ended:
            say(options, [f"recording {who}; {how_to_end()}{until} ends it"])
            ends = (ended, session.client.fileno())
            gone = _wait(options.pids, ends, options.duration)
            losses = session.stop()
            seconds = time.monotonic() - started
    except SessionError as error:
        raise CommandError(str(error), exit_code=FAILED) from error
    except VestigeError as error:
        raise CommandError(
            f"{error}: the next one, which 'vestige-sessiond --daemonize' starts, "
            f"writes what is missing in {place.path}",
            exit_code=FAILED,
        ) from error
    remember(place.path)
    from .render.session_recording import session_lines

    say(options, [f"{pid} ({names[pid]}) has ended" for pid in gone])
    say(options, session_lines(session, losses, seconds, "--buffer-size"))
    return 0 if losses.failure is None else FAILED


@contextmanager
def _unwinding_signals() -> Iterator[None]:
    """Let signals that end this process at once end it as an error does.

    What it has begun is taken back, as after Ctrl-C.
    """

    def end(number: int, _frame: object) -> NoReturn:
        raise SystemExit(128 + number)

    numbers = [one for one in _ENDING if signal.getsignal(one) == signal.SIG_DFL]
    for one in numbers:
        signal.signal(one, end)
    try:
        yield
    finally:
        for one in numbers:
            signal.signal(one, signal.SIG_DFL)


def _buffer_size(text: str) -> int:
    size = parse_size(text, "--buffer-size")
    if size > LARGEST_BUFFER:
        raise CommandError(
            f"--buffer-size {text}: expected at most {LARGEST_BUFFER >> 30}G for each "
            "CPU with -p",
            exit_code=WRONG_USAGE,
        )
    return size


def _waiting_line(pids: Sequence[int], names: Mapping[int, str]) -> str:
    who = ", ".join(f"{pid} ({names[pid]})" for pid in pids)
    return (
        f"waiting for {who}: programs of LTTng-UST that have lost a session daemon "
        "look for the next after some seconds"
    )


@contextmanager
def ending_signals() -> Iterator[int]:
    """Take the first signal that ends a program as the wish to end a recording.

    Signals that are ignored stay so; a second one does what it does otherwise.

    Yields:
        A descriptor that can be read once there was one.
    """
    reader, writer = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    before: dict[int, signal._HANDLER] = {}

    def notice(_number: int, _frame: object) -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    # Who waits is not woken by a signal that has come just before, or that another
    # thread has got: only what is written at once, not by the handler, does that.
    others = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    try:
        for number in _ENDING:
            if signal.getsignal(number) not in {signal.SIG_IGN, None}:
                before[number] = signal.signal(number, notice)
        yield reader
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(others)
        os.close(reader)
        os.close(writer)


def _wait(pids: Sequence[int], ends: Sequence[int], duration: int | None) -> list[int]:
    """Wait for a signal, the end of the daemon, of the time, or of all programs.

    Returns:
        The programs that have ended.
    """
    end = None if duration is None else time.monotonic() + duration / 1e9
    gone: list[int] = []
    running: dict[int, int] = {}
    poll = select.poll()
    for one in ends:
        poll.register(one, select.POLLIN)
    try:
        for pid in pids:
            try:
                running[os.pidfd_open(pid)] = pid
            except ProcessLookupError:
                gone.append(pid)
        for handle in running:
            poll.register(handle, select.POLLIN)
        while running:
            rest = None if end is None else max(end - time.monotonic(), 0) * 1000
            ready = [one for one, _ in poll.poll(rest)]
            if not ready or not {*ends}.isdisjoint(ready):
                break
            for handle in ready:
                poll.unregister(handle)
                os.close(handle)
                gone.append(running.pop(handle))
    finally:
        for handle in running:
            os.close(handle)
    return gone
