"""Calls of each function, as Vestige and as uftrace record them of the same program."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import vestige
from support.peers import run_peer
from support.recorded import record_command
from vestige.analysis import FunctionKind, call_tree
from vestige.debuginfo import Place

__all__ = [
    "Counted",
    "PeerError",
    "count_calls",
    "differing",
    "run_counted",
    "run_peer_counted",
]

SECONDS = 120.0
TOLERANCE = 0.001
"""What may differ between two runs of a program that reads a clock: a share of all."""
OFTEN = 0.01
"""What of the calls of a function, for each request, may be work that comes with time."""
FEW = 25
"""Calls of a function that may come with time, whatever is asked: on a machine that is busy
with other work, a server looks at its timers more often."""


class PeerError(Exception):
    """The other tool lost records or failed, so it cannot judge."""


@dataclass(frozen=True)
class Counted:
    """What a program did while it was recorded, and what its recording holds."""

    calls: Counter[str]
    """Entries of each function; of clones that a compiler makes, together."""

    status: int = 0
    output: str = ""
    errors: str = ""
    """What the program and the recorder printed on standard error."""

    served: int = 0
    """What the function returned that ran meanwhile."""

    lost: int = 0
    """Events that the recording says were lost."""

    damage: Sequence[str] = ()
    nameless: Sequence[str] = ()
    """Called addresses whose function was not found."""


def run_counted(
    program: Sequence[str | Path],
    trace: Path,
    during: Callable[[], int] = int,
    directory: Path | None = None,
) -> Counted:
    """Record a program and count its calls.

    Args:
        program: The program and its arguments.
        trace: Where the recording goes.
        during: Is called while it runs, and ends it if it does not end by itself.
        directory: Where it is run; here by default.
    """
    ran = _run(record_command(trace, program), during, directory)
    return count_calls(trace, ran)


def count_calls(trace: Path, ran: Counted | None = None) -> Counted:
    """Count the calls in a recording.

    Args:
        trace: The recording.
        ran: What is known already.
    """
    ran = ran or Counted(Counter())
    calls: Counter[str] = Counter()
    nameless = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = call_tree(vestige.open(trace))
        for one in tree.functions():
            if one.function.kind is not FunctionKind.FUNCTION:
                continue
            calls[_base_name(one.function.name)] += one.calls - one.no_entry
            if not isinstance(one.function.place, Place):
                nameless.append(one.function.name)
    return Counted(
        +calls,
        ran.status,
        ran.output,
        ran.errors,
        ran.served,
        tree.lost,
        tuple(map(str, tree.damage)),
        tuple(nameless),
    )


def run_peer_counted(
    program: Sequence[str | Path],
    trace: Path,
    during: Callable[[], int] = int,
    directory: Path | None = None,
) -> Counted:
    """Record a program with uftrace and count its calls.

    Raises:
        PeerError: When uftrace lost records, or recorded nothing.
    """
    # Library calls and the scheduler are no functions of the program's own.
    options = ["--no-libcall", "--no-event", "--buffer=4m", "-d", str(trace)]
    ran = _run(["uftrace", "record", *options, "--", *program], during, directory)
    if "LOST" in ran.errors:
        raise PeerError(ran.errors)
    words = ["uftrace", "report", "-d", str(trace), "-f", "call", "--no-pager"]
    report = run_peer(words).stdout.decode()
    calls: Counter[str] = Counter()
    for number, name in re.findall(r"^ *(\d+) +(\S+)$", report, re.MULTILINE):
        # After a fork, uftrace 0.13 also counts something that has no name.
        if name != "<0>":
            calls[_base_name(name)] += int(number)
    if not calls:
        raise PeerError(f"no calls: {ran.errors}")
    return Counted(calls, ran.status, ran.output, ran.errors, ran.served)


def differing(
    counted: Counted, peer: Counted, chance: Sequence[str] = ()
) -> dict[str, tuple[int, int]]:
    """Return what differs by more than two runs do, ours before the peer's.

    That is the calls of each function that is called once a request or more often, and
    ``total``. A call in a hundred requests is no difference: servers have work that comes
    with time.

    Args:
        counted: Our numbers.
        peer: Those of the peer.
        chance: Patterns of functions whose calls depend on time or on chance.
    """
    ours, theirs = (
        Counter(
            {
                name: number
                for name, number in one.calls.items()
                if not any(fnmatchcase(name, pattern) for pattern in chance)
            }
        )
        for one in (counted, peer)
    )
    least = max(counted.served, peer.served)
    pairs = {
        name: (ours[name], theirs[name])
        for name in ours | theirs
        if max(ours[name], theirs[name]) >= least
    }
    pairs["total"] = (ours.total(), theirs.total())
    return {
        name: pair
        for name, pair in pairs.items()
        if abs(pair[0] - pair[1]) > max(pair[1] * TOLERANCE, least * OFTEN, FEW)
    }


def _run(
    command: Sequence[str | Path], during: Callable[[], int], directory: Path | None
) -> Counted:
    with (
        tempfile.TemporaryFile("w+") as output,
        tempfile.TemporaryFile("w+") as errors,
    ):
        process = subprocess.Popen(
            [os.fspath(word) for word in command],
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            start_new_session=True,
        )
        try:
            served = during()
            status = process.wait(SECONDS)
        except BaseException as error:
            errors.seek(0)
            error.add_note(errors.read())
            raise
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        output.seek(0)
        errors.seek(0)
        return Counted(Counter(), status, output.read(), errors.read(), served)


def _base_name(name: str) -> str:
    """Return a function's name without what a compiler appends to that of a clone."""
    return re.sub(r"(\.(isra|part|constprop|cold)\.?\d*)+$", "", name)
