"""Compare Vestige with Babeltrace 2 on the traces of Babeltrace's own tests.

Usage: compare_babeltrace_traces.py CHECKOUT

Each trace of a checkout of Babeltrace is printed by ``babeltrace2`` and by ``vestige
convert``, whole and with ``--stream-intersection``. Standard output, warnings about losses
and success must be the same, or the case must stand in ``EXCEPTIONS`` with its reason.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

FOLDERS = ("tests/data/ctf-traces", "tests/data/plugins/src.ctf.fs")
"""Where a checkout of Babeltrace keeps its traces."""
MODES: tuple[tuple[str, ...], ...] = ((), ("--stream-intersection",))
"""Options to compare with."""
PEER = ("babeltrace2", "convert")
"""The command to compare with."""
PROJECT = Path(__file__).parent.parent
TIME_LIMIT = 60
"""Seconds for one command."""

DOUBT = "records in front of one that cannot be read may be misread too"
UUID = "CTF 1.8.3, 5.1: packets with another UUID belong to other metadata"
INTACT = "what is intact is printed, and the exit status is 1 as well"
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("deterministic-ordering/a-corrupted", "*"): DOUBT,
    ("deterministic-ordering/c-corrupted", "*"): DOUBT,
    ("fail/valid-events-then-invalid-events/trace", "*"): DOUBT,
    ("fail/fail1", "*"): INTACT,
    ("fail/invalid-packet-size/trace", "*"): INTACT,
    ("intersection/3eventsintersectreverse", "*"): UUID,
    ("intersection/onestream", "*"): UUID,
}
"""Reasons of differences, by the end of the trace's path and the options."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command printed and how it ended."""

    text: bytes
    """Standard output."""
    warnings: list[str]
    """Warnings about losses, in any order."""
    success: bool
    """Whether the exit status was 0."""


def outcome(command: list[str]) -> Outcome:
    """Run a command."""
    environment = {**os.environ, "TZ": "UTC0"}
    done = subprocess.run(
        command, capture_output=True, timeout=TIME_LIMIT, env=environment, check=False
    )
    lines = done.stderr.decode(errors="replace").splitlines()
    warnings = sorted(line for line in lines if line.startswith("WARNING: Tracer"))
    return Outcome(done.stdout, warnings, done.returncode == 0)


def difference(peer: Outcome, ours: Outcome) -> str | None:
    """Tell how two outcomes differ; ``None`` when they do not."""
    if peer.success != ours.success:
        said = {True: "success", False: "failure"}
        return f"{said[peer.success]} became {said[ours.success]}"
    if peer.text != ours.text:
        pairs = zip(peer.text.splitlines(), ours.text.splitlines(), strict=False)
        same = 0
        for left, right in pairs:
            if left != right:
                break
            same += 1
        counts = len(peer.text.splitlines()), len(ours.text.splitlines())
        return f"line {same + 1} of {counts[0]} (here {counts[1]}) differs"
    return None if peer.warnings == ours.warnings else "other warnings"


def reason(trace: Path, options: tuple[str, ...]) -> str | None:
    """Return why a case may differ, if it may."""
    for (end, words), why in EXCEPTIONS.items():
        if trace.as_posix().endswith(end) and words in {"*", " ".join(options)}:
            return why
    return None


def main(checkout: str) -> int:
    """Compare all traces; return the exit status."""
    vestige = [str(PROJECT / ".venv" / "bin" / "vestige"), "convert"]
    traces = sorted(
        metadata.parent
        for folder in FOLDERS
        for metadata in (Path(checkout) / folder).rglob("metadata")
    )
    passed = total = 0
    for trace in traces:
        for options in MODES:
            words = [*options, str(trace)]
            found = difference(outcome([*PEER, *words]), outcome([*vestige, *words]))
            why = reason(trace, options) if found else None
            verdict = "same" if found is None else "known" if why else "DIFFERS"
            total += 1
            passed += verdict != "DIFFERS"
            place = trace.relative_to(checkout)
            print(f"{verdict:8}{place} {' '.join(options)}".rstrip())
            if found:
                print(f"        {found}{'' if why is None else f': {why}'}")
    print(f"{passed}/{total} cases are the same or known to differ")
    return 0 if passed == total and total else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:  # noqa: PLR2004 - the program and its argument
        sys.exit(f"usage: {sys.argv[0]} CHECKOUT")
    sys.exit(main(sys.argv[1]))
