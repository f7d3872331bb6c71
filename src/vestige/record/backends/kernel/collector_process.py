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
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..._collector import counter
from .probes import remove_abandoned
from .trace import KernelTrace, ReaderGoneError
from .tracefs import NoKernelTracerError, Tracefs
from .wanted import ChannelWanted, Wanted

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["main"]


def main() -> None:
    """Do what the lines ask for."""
    line = sys.stdin.readline()
    if not line:
        return
    wanted = Wanted.from_json(json.loads(line))
    os.chdir("/")
    try:
        tracefs = Tracefs()
    except NoKernelTracerError as error:
        _answer(refused=str(error))
        return
    try:
        _record(tracefs, wanted)
    finally:
        tracefs.close()


def _record(tracefs: Tracefs, wanted: Wanted) -> None:
    removed = tracefs.remove_abandoned() + remove_abandoned(tracefs)
    now = counter if wanted.clock.is_counter else time.monotonic_ns
    try:
        trace = KernelTrace(tracefs, wanted, now)
    except (NoKernelTracerError, ReaderGoneError) as error:
        _answer(refused=str(error))
        return
    except OSError as error:
        _answer(refused=f"{error.strerror}: {error.filename}")
        return
    try:
        _answer(ready=trace.take_problems(), removed=removed)
        for line in sys.stdin:
            order = json.loads(line)
            answer = _answer_to(trace, order)
            if order["do"] == "end":
                # Whoever waits for it may look for what is left.
                trace.close()
                _answer(**answer)
                return
            _answer(**answer)
        # Somebody was killed: what there is becomes whole.
        with suppress(ReaderGoneError, OSError):
            trace.end()
    finally:
        trace.close()


def _answer_to(trace: KernelTrace, order: dict[str, Any]) -> dict[str, Any]:
    try:
        done = _ACTIONS[order["do"]](trace, order)
    except ReaderGoneError as error:
        return {"failed": str(error)}
    except OSError as error:
        return {"failed": f"{error.strerror}: {error.filename}"}
    return {"done": done, "problems": trace.take_problems()}


_ACTIONS: dict[str, Callable[[KernelTrace, dict[str, Any]], object]] = {
    "start": lambda trace, order: trace.start(order["left_out"]),
    "leave_out": lambda trace, order: trace.leave_out(order["threads"]),
    "change": lambda trace, order: trace.change(
        [ChannelWanted.from_json(one) for one in order["channels"]]
    ),
    "stop": lambda trace, _: trace.stop(),
    "rotate": lambda trace, order: trace.rotate(order["directory"], order["uuid"]),
    "clear": lambda trace, order: trace.clear(order["directory"]),
    "snapshot": lambda trace, order: trace.snapshot(order["directory"], order["most"]),
    "metadata": lambda trace, _: trace.write_metadata(),
    "dump": lambda trace, _: trace.dump(),
    "counts": lambda trace, _: trace.counts(),
    "end": lambda trace, _: trace.end(),
}
"""What may be asked for."""


def _answer(**facts: Any) -> None:
    """Say something, to somebody who may have been killed."""
    with suppress(BrokenPipeError):
        sys.stdout.write(json.dumps(facts) + "\n")
        sys.stdout.flush()
