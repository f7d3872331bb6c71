"""What other tools count: how often each function of a program begins."""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import vestige
from support.compilers import run_tool
from vestige.core import FunctionPlan, ObjectFile
from vestige.debuginfo import Unresolved

__all__ = [
    "callgrind_executions",
    "planned_functions",
    "recorded_calls",
    "uftrace_calls",
]

SECONDS = 120.0
_OBJECT = re.compile(r"ob=(.*)")
_COST = re.compile(r"(0x[0-9a-f]+) \S+ (\d+)")


def callgrind_executions(
    directory: Path,
    path: str | Path,
    command: Sequence[str | Path],
    environment: Mapping[str, str] | None = None,
) -> tuple[Counter[int], str]:
    """Count with callgrind how often each instruction of an object is executed.

    Args:
        directory: Where a file may be written.
        path: The object.
        command: The program and its arguments.
        environment: That of the program.

    Returns:
        The counts by address in the object, and what the program printed.
    """
    output = directory / "callgrind.out"
    options = ["--dump-instr=yes", "--compress-strings=no", "--compress-pos=no"]
    tool = ["valgrind", "-q", "--tool=callgrind", *options]
    done = subprocess.run(
        [*tool, f"--callgrind-out-file={output}", *command],
        capture_output=True,
        env=environment,
        timeout=SECONDS,
        check=True,
    )
    found = Counter[int]()
    seen = set[str]()
    wanted = os.path.realpath(path)
    is_inside = is_call = False
    for line in output.read_text(errors="replace").splitlines():
        if match := _OBJECT.match(line):
            is_inside = match[1] == wanted
        elif line.startswith("fn="):
            seen.clear()
        elif line.startswith("calls="):
            # What comes next is the cost of the calls.
            is_call = True
        elif is_call:
            is_call = False
        elif is_inside and (match := _COST.match(line)) and match[1] not in seen:
            # A jump to another function comes a second time.
            seen.add(match[1])
            found[int(match[1], 16)] += int(match[2])
    return found, done.stdout.decode()


def uftrace_calls(
    directory: Path, command: Sequence[str | Path], *options: str
) -> Counter[str] | None:
    """Count with uftrace how often each function of a program is called.

    Args:
        directory: Where its trace may be written.
        command: The program and its arguments.
        options: What it records.

    Returns:
        The counts by name; ``None`` if it fails to record the program.
    """
    trace = directory / "uftrace"
    record = ["uftrace", "record", "--no-libcall", *options, "-d", trace, *command]
    done = subprocess.run(record, capture_output=True, timeout=SECONDS, check=False)
    if done.returncode:
        return None
    report = run_tool(["uftrace", "report", "--no-pager", "-f", "call", "-d", trace])
    rows = (line.split() for line in report.decode().splitlines()[2:])
    # Others are no functions, as when the program had to wait.
    return Counter(
        {row[-1]: int(row[0]) for row in rows if len(row) > 1 and row[0].isdigit()}
    )


def recorded_calls(trace: Path, path: str | Path) -> Counter[int]:
    """Return how often functions of an object were called, by where they are in it."""
    wanted = os.path.realpath(path)
    is_moved = ObjectFile.open(wanted).is_pic
    found = Counter[int]()
    for one in vestige.open(trace).call_tree().functions():
        place = one.function.place
        address = one.function.address
        if address is None or place is None or isinstance(place, Unresolved):
            continue
        mapping = place.binary.mapping
        if os.path.realpath(mapping.path) == wanted:
            found[address - (mapping.base if is_moved else 0)] += one.calls
    return found


def planned_functions(path: str | Path) -> dict[int, bool]:
    """Return where functions of an object begin, and whether they can be recorded.

    What runs before the program, and parts of functions that lie elsewhere, are none.
    """
    plan = FunctionPlan.make(
        ObjectFile.open(os.path.realpath(path)), [], only_sites=False
    )
    return {
        address: method is not None
        for address, _, _, method, _, is_missed in plan.functions()
        if method is not None or is_missed
    }
