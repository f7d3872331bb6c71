"""The process that records the kernel: it alone has the rights, and it tidies up.

Whoever records starts it and talks to it in lines of JSON. The first says what is
wanted, and is answered by ``ready`` or ``refused``; the others say what to do, each
answered by ``done`` or ``failed``. The end of the lines is the end of the recording: a
recorder that was killed leaves a whole trace and nothing in tracefs. Pages are read by
a child of it without any rights.
"""

from __future__ import annotations

import json
import os
import resource
import select
import sys
import time
from contextlib import suppress

from ...._typing import TYPE_CHECKING
from ..._collector import counter
from .order_values import text_of
from .probes import remove_abandoned
from .proc_files import is_in_pid_namespace
from .reader_link import ReaderGoneError
from .trace import KernelTrace
from .tracefs import NoKernelTracerError, Tracefs
from .wanted import ChannelWanted, Wanted

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .logger_pipe import LoggerPipe

__all__ = ["main"]

_DRAINED = 64
"""How often the logger's pipe is read before an order: it holds less."""


_OTHER_IDS = (
    "the recorder is in a PID namespace: of processes that were there before and are "
    "not in it, which are recorded, too, the state and most contexts are unknown"
)


def main() -> None:
    """Do what the lines ask for."""
    orders = _Orders()
    asked = orders.next()
    if asked is None:
        return
    wanted = Wanted.from_json(asked)
    os.chdir("/")
    _allow_descriptors()
    try:
        tracefs = Tracefs()
    except NoKernelTracerError as error:
        _answer(refused=str(error))
        return
    try:
        _record(tracefs, wanted, orders)
    finally:
        orders.close()
        tracefs.close()


def _allow_descriptors() -> None:
    """Let this process, and its child, have as many files open as they may.

    Each channel has four of each CPU, and a program of the kernel at an event is one.
    """
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _record(tracefs: Tracefs, wanted: Wanted, orders: _Orders) -> None:
    removed = tracefs.remove_abandoned() + remove_abandoned(tracefs)
    now = counter if wanted.clock.is_counter else time.monotonic_ns
    try:
        trace = KernelTrace(tracefs, wanted, now)
    except (NoKernelTracerError, ReaderGoneError) as error:
        _answer(refused=str(error), has_tracer=True)
        return
    except OSError as error:
        _answer(refused=text_of(error), has_tracer=True)
        return
    try:
        problems = trace.take_problems()
        if is_in_pid_namespace():
            problems.append(_OTHER_IDS)
        if wanted.logger is not None:
            # Few recordings have one.
            from .logger_pipe import LoggerPipe  # noqa: PLC0415 - see above

            try:
                orders.logger = LoggerPipe(tracefs, wanted.logger)
            except OSError as error:
                why = f"{wanted.logger}: {error.strerror}"
                problems.append(f"no text from {why}")
        orders.trace = trace
        _answer(ready=problems, removed=removed, directory=trace.directory)
        while (order := orders.next()) is not None:
            answer = _answer_to(trace, order)
            _answer(**answer)
            if order["do"] == "end":
                # The files are complete; instances take some time to go.
                return
            if "done" in answer:
                _read_state(trace, order)
        # Somebody was killed: what there is becomes whole.
        with suppress(ReaderGoneError, OSError):
            trace.end()
    finally:
        trace.close()


class _Orders:
    """The lines of standard input; what the logger gets is passed on meanwhile."""

    def __init__(self) -> None:
        self.logger: LoggerPipe | None = None
        self.trace: KernelTrace | None = None
        """What is recorded."""
        self._data = b""

    def next(self) -> dict[str, Any] | None:
        """Wait for the next order; ``None``: there are no more, or nothing to do."""
        while b"\n" not in self._data:
            ready = self._wait()
            if self.trace is not None and self.trace.reader.fileno() in ready:
                return None
            if 0 not in ready:
                continue
            data = os.read(0, 1 << 16)
            if not data:
                return None
            self._data += data
        line, _, self._data = self._data.partition(b"\n")
        # What was written before the order belongs before it. Who writes without end
        # does not put it off.
        for _ in range(_DRAINED):
            if self.logger is None or not self.logger.pass_on():
                break
        self._look()
        order: dict[str, Any] = json.loads(line)
        return order

    def _look(self) -> None:
        # That the reader has ended is found by the order that comes, too.
        with suppress(ReaderGoneError, OSError):
            if self.trace is not None:
                self.trace.look()

    def _wait(self) -> set[int]:
        """Wait for something; return what can be read. What is logged is passed on."""
        logger = None if self.logger is None else self.logger.descriptor
        asked = select.poll()
        trace = self.trace
        reader = None if trace is None else trace.reader.fileno()
        watched = [] if trace is None else trace.watched
        for one in (0, reader, logger, *watched):
            if one is not None:
                asked.register(one, select.POLLIN)
        pause = None if trace is None else trace.pause
        ready = {one for one, _ in asked.poll(pause and pause * 1000)}
        if self.logger is not None and logger in ready:
            self.logger.pass_on()
        if not ready or not ready.isdisjoint(watched):
            self._look()
        return ready

    def close(self) -> None:
        """Let the logger be gone."""
        if self.logger is not None:
            self.logger.close()


def _read_state(trace: KernelTrace, order: dict[str, Any]) -> None:
    """Read the state that belongs to an order, once that is answered.

    Nobody waits for it: who comes next is told what fails.
    """
    try:
        if order["do"] == "start":
            trace.complete_state()
        elif order.get("with_state"):
            trace.dump()
    except ReaderGoneError:
        # So it is with what comes next.
        pass
    except OSError as error:
        trace.note_missing_state(error)


def _answer_to(trace: KernelTrace, order: dict[str, Any]) -> dict[str, Any]:
    try:
        done = _ACTIONS[order["do"]](trace, order)
    except ReaderGoneError as error:
        return {"failed": str(error)}
    except OSError as error:
        return {"failed": text_of(error)}
    return {"done": done, "problems": trace.take_problems()}


_ACTIONS: dict[str, Callable[[KernelTrace, dict[str, Any]], object]] = {
    "start": lambda trace, order: trace.start(
        order["left_out"], is_whole=order.get("is_whole", False)
    ),
    "leave_out": lambda trace, order: trace.leave_out(order["threads"]),
    "follow": lambda trace, order: trace.follow(order["thread"]),
    "change": lambda trace, order: trace.change(
        [ChannelWanted.from_json(one) for one in order["channels"]]
    ),
    "track": lambda trace, order: trace.track(order["tracked"]),
    "stop": lambda trace, _: trace.stop(),
    "rotate": lambda trace, order: trace.rotate(order["directory"]),
    "clear": lambda trace, order: trace.clear(order["directory"], order["old"]),
    "snapshot": lambda trace, order: trace.snapshot(order["directory"], order["most"]),
    "hold": lambda trace, order: trace.hold(is_held=order["is_held"]),
    "metadata": lambda trace, _: trace.write_metadata(),
    "dump": lambda trace, _: trace.dump(),
    "rate": lambda trace, order: trace.set_rate(order["frequency"], order["offset"]),
    "counts": lambda trace, order: trace.counts(is_read=order["is_read"]),
    "end": lambda trace, _: trace.end(),
}
"""What may be asked for."""


def _answer(**facts: Any) -> None:
    """Say something, to somebody who may have been killed."""
    with suppress(BrokenPipeError):
        sys.stdout.write(json.dumps(facts) + "\n")
        sys.stdout.flush()
