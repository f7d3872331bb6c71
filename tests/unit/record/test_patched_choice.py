"""Functions that --include-function and --exclude-function leave out are not rewritten."""

from __future__ import annotations

import pytest

from support.compilers import PROGRAMS, run_tool
from support.patched import EXACT, build, called, needs_patching
from support.recorded import run_recorded

pytestmark = needs_patching

PATIENT = ("--patch", "--patch-wait=30s")
"""On a busy machine, recorders answer late."""
PROBE = "--probe=probed()"


def run(directory, *options):
    """Record the program; which entries it found rewritten, and what was called."""
    program = build(directory, "own_entries", "-ldl")
    library = directory / "liblater.so"
    flags = ("-DLIBRARY", "-shared", "-fPIC", "-o", library)
    run_tool(["gcc", *EXACT, *flags, PROGRAMS / "own_entries.c"])
    trace = directory / "trace"
    done = run_recorded(trace, [program, library], *PATIENT, *options)
    assert done.returncode == 0, done.stderr
    rows = (line.split() for line in done.stdout.splitlines())
    return {name for name, is_jump in rows if is_jump == "1"}, called(trace), done


@pytest.mark.parametrize(
    ("options", "rewritten"),
    [
        (
            ["--include-function=*chosen"],
            {"chosen", "later_chosen"},
        ),
        (
            ["--exclude-function=*left", "--exclude-function=liblater.so:*"],
            {"chosen", "probed"},
        ),
        (
            ["--include-function=*chosen", "--exclude-function=later_*", PROBE],
            {"chosen", "probed"},
        ),
        ([], {"chosen", "left", "probed", "later_chosen", "later_left"}),
    ],
    ids=["included", "excluded", "with a probe", "all"],
)
def test_what_is_left_out_is_not_rewritten(tmp_path, options, rewritten):
    """So it costs nothing, in objects that are loaded later as well; but for probes."""
    found, calls, _ = run(tmp_path, *options)
    assert found == rewritten
    named = {name for name in calls if name not in {"main", "tell"}}
    recorded = rewritten - {"probed"} if PROBE in options else rewritten
    assert named == recorded


def test_the_count_of_patched_functions_is_no_claim(tmp_path):
    """The recorder knows what was planned; names are compared in the program."""
    done = run(tmp_path, "--include-function=chosen")[2]
    assert "planned; those that --include-function" in done.stderr
    assert "functions patched" not in done.stderr
