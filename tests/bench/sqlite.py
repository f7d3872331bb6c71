"""A real program without hooks to record: sqlite3, as Debian has compiled it."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.traces import OUTPUT
from support.call_counts import count_calls
from support.recorded import record_command

LIBRARY = "libsqlite3.so.0"
"""Whose functions are recorded."""
PATTERN = "sqlite3*"
SCRIPT = Path(__file__).resolve().with_name("workload.sql")
COMMAND = ("sqlite3", ":memory:", f".read {SCRIPT}")
PEER = ("-P", f"{PATTERN}@{LIBRARY}", "--no-libcall")
"""Options of ``uftrace record``; it leaves out functions that are too short for it."""
SECONDS = 300.0


class SqliteError(Exception):
    """It is not there, or the tracers do not record the same calls."""


@dataclass(frozen=True)
class SameFunctions:
    """Functions that both tracers record, as often each."""

    own: Sequence[str]
    """Options of ``vestige record``."""
    peer: Sequence[str]
    """Options of ``uftrace record``."""
    functions: int
    """How many are called."""
    calls: int
    """How many calls of them each tracer has recorded."""


def same_functions() -> SameFunctions:
    """Find functions that both tracers can record, and count their calls.

    Raises:
        SqliteError: They cannot be compared, or have not the same number of calls of
            each function.
    """
    for name in ("sqlite3", "uftrace"):
        if shutil.which(name) is None:
            raise SqliteError(f"{name} is not installed")
    theirs = _peer_calls(PEER)
    own = (*(f"--patch={name}" for name in theirs), f"--patch-in={LIBRARY}")
    ours = _own_calls(own)
    # What Vestige leaves alone, uftrace has to.
    left = sorted(theirs.keys() - ours.keys())
    peer = (*PEER, *(word for name in left for word in ("-U", f"{name}@{LIBRARY}")))
    theirs = _peer_calls(peer)
    if not ours or ours != theirs:
        pairs = {name: (ours.get(name), theirs.get(name)) for name in ours | theirs}
        raise SqliteError(
            "not as many calls: "
            + ", ".join(
                f"{name}: {one}" for name, one in pairs.items() if len({*one}) > 1
            )
        )
    return SameFunctions(own, peer, len(ours), sum(ours.values()))


def _peer_calls(options: Sequence[str]) -> dict[str, int]:
    with tempfile.TemporaryDirectory(dir=OUTPUT, prefix="sqlite-") as trace:
        _run(
            ["uftrace", "record", "--force", *options, "-d", f"{trace}/peer", *COMMAND]
        )
        report = [
            "uftrace",
            "report",
            "-d",
            f"{trace}/peer",
            "-f",
            "call",
            "--no-pager",
        ]
        rows = re.findall(r"^ *(\d+) +(sqlite3\w+)$", _run(report), re.MULTILINE)
    return {name: int(number) for number, name in rows}


def _own_calls(options: Sequence[str]) -> dict[str, int]:
    with tempfile.TemporaryDirectory(dir=OUTPUT, prefix="sqlite-") as name:
        trace = Path(name) / "own"
        _run(record_command(trace, COMMAND, *options))
        return dict(count_calls(trace).calls)


def _run(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(
            command, check=True, capture_output=True, timeout=SECONDS, text=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise SqliteError(f"{command[0]}: {error}") from error
    return done.stdout
