"""Run Babeltrace 2's own tests with ``vestige`` in the place of ``babeltrace2``.

    tools/judge_babeltrace.py FOLDER

FOLDER is the source tree of Babeltrace 2.0.4, or a copy of its ``tests``. Many of its
cases pass with a program that only fails; so each script is run with ``/bin/false``, too,
and what passes with it proves nothing. The last column is what counts.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

SCRIPTS = (
    "cli/convert/test_auto_source_discovery_grouping",
    "cli/convert/test_auto_source_discovery_log_level",
    "cli/convert/test_auto_source_discovery_params",
    "cli/convert/test_convert_args",
    "cli/list-plugins/test_list_plugins",
    "cli/params/test_params",
    "cli/query/test_query",
    "cli/test_exit_status",
    "cli/test_help",
    "cli/test_intersection",
    "cli/test_output_ctf_metadata",
    "cli/test_output_path_ctf_non_lttng_trace",
    "cli/test_packet_seq_num",
    "cli/test_trace_copy",
    "cli/test_trace_read",
    "cli/test_trimmer",
    "plugins/flt.lttng-utils.debug-info/test_succeed",
    "plugins/flt.utils.muxer/succeed/test_succeed",
    "plugins/flt.utils.trimmer/test_trimming",
    "plugins/sink.ctf.fs/succeed/test_succeed",
    "plugins/sink.ctf.fs/test_assume_single_trace",
    "plugins/sink.ctf.fs/test_stream_names",
    "plugins/sink.text.details/succeed/test_succeed",
    "plugins/src.ctf.fs/fail/test_fail",
    "plugins/src.ctf.fs/succeed/test_succeed",
    "plugins/src.ctf.fs/test_deterministic_ordering",
    "plugins/src.ctf.lttng-live/test_live",
)
"""The scripts that run the program; those of the Python module are not among them."""

LIMIT = 300
"""Seconds that a script may take."""
PASSED = re.compile(r"^ok (\d+)(?!.*# SKIP)", re.MULTILINE)
PLAN = re.compile(r"^1\.\.(\d+)", re.MULTILINE)


class Outcome(NamedTuple):
    """What became of the cases of a script."""

    cases: int
    """How many it has."""
    passed: frozenset[int]
    """The numbers of those that passed."""


def stand_in(folder: Path) -> Path:
    """Write the program that stands in for ``babeltrace2``."""
    words = [sys.executable, "-m", "vestige", "commands", "install", str(folder)]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return folder / "babeltrace2"


def environment(tests: Path, program: Path, folder: Path) -> dict[str, str]:
    """Return the variables with which the scripts find what they run."""
    none = str(folder / "nothing")
    return {
        **{name: os.environ[name] for name in ("PATH",)},
        "BT_TESTS_SRCDIR": str(tests),
        "BT_TESTS_BUILDDIR": str(folder),
        "BT_TESTS_BT2_BIN": str(program),
        "BT_TESTS_PROVIDER_DIR": none,
        "BT_TESTS_BABELTRACE_PLUGIN_PATH": none,
        "BT_TESTS_PYTHONPATH": none,
        "BT_TESTS_PYTHON_BIN": "/usr/bin/python3",
        "BT_TESTS_AWK_BIN": "awk",
        "BT_TESTS_GREP_BIN": "grep",
        "BT_TESTS_SED_BIN": "sed",
        "BT_TESTS_CC_BIN": "cc",
        "BT_TESTS_ENABLE_ASAN": "0",
        "BT_TESTS_ENABLE_PYTHON_PLUGINS": "1",
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",
    }


def outcome(tests: Path, script: str, program: Path, folder: Path) -> Outcome:
    """Run a script."""
    running = subprocess.Popen(
        ["bash", str(tests / script)],
        cwd=tests,
        env=environment(tests, program, folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        text=True,
        errors="replace",
    )
    try:
        text, _ = running.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        text, _ = running.communicate()
    plans = PLAN.findall(text)
    passed = frozenset(map(int, PASSED.findall(text)))
    return Outcome(int(plans[-1]) if plans else 0, passed)


def main() -> int:
    """Print a line for each script, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the source tree of Babeltrace 2.0.4")
    parser.add_argument("scripts", nargs="*", help="some of the scripts")
    options = parser.parse_args()
    tests = options.folder.resolve()
    if (tests / "tests").is_dir():
        tests /= "tests"
    sums = [0, 0, 0]
    print(f"{'script':56} {'cases':>6} {'passed':>7} {'proved':>7}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = stand_in(folder)
        for script in options.scripts or SCRIPTS:
            found = outcome(tests, script, program, folder)
            empty = outcome(tests, script, Path("/bin/false"), folder)
            row = [found.cases, len(found.passed), len(found.passed - empty.passed)]
            sums = [one + other for one, other in zip(sums, row, strict=True)]
            print(f"{script:56} {row[0]:6} {row[1]:7} {row[2]:7}", flush=True)
    print(f"{'all':56} {sums[0]:6} {sums[1]:7} {sums[2]:7}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
