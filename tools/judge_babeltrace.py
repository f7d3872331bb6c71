"""Run Babeltrace 2's own tests with ``vestige`` in the place of ``babeltrace2``.

    tools/judge_babeltrace.py FOLDER

FOLDER is the source tree of Babeltrace 2.0.4, or a copy of its ``tests``. Many of its
cases pass with a program that only fails; so each script is run with ``/bin/false``, too,
and what passes with it proves nothing. The last column is what counts.

Scripts that run Python with ``bt2`` get :mod:`vestige.compat.bt2`. Three traces are
written by programs among the tests, which need the library ``babeltrace2-ctf-writer`` and
its headers (``include`` of the source tree); without them, their cases do not pass.
``--bindings`` runs the checks of the Python module in place of the scripts, and
``--log DIR`` keeps what the scripts print.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    "plugins/sink.text.pretty/test_pretty",
    "plugins/src.ctf.fs/fail/test_fail",
    "plugins/src.ctf.fs/query/test_query_metadata_info",
    "plugins/src.ctf.fs/query/test_query_support_info",
    "plugins/src.ctf.fs/query/test_query_trace_info",
    "plugins/src.ctf.fs/succeed/test_succeed",
    "plugins/src.ctf.fs/test_deterministic_ordering",
    "plugins/src.ctf.lttng-live/test_live",
    "python-plugin-provider/test_python_plugin_provider",
)
"""The scripts; not those of internal functions of its plugins in C."""

BINDINGS = (
    "trace_collection_message_iterator",
    "event",
    "message",
    "graph",
    "query_executor",
    "field",
)
"""The checks of the Python module: ``bindings/python/bt2/test_NAME.py``."""

WRITERS = (
    "plugins/sink.ctf.fs/succeed/gen-trace-double",
    "plugins/sink.ctf.fs/succeed/gen-trace-float",
    "plugins/src.ctf.fs/succeed/gen-trace-simple",
)
"""The programs among the tests that write traces."""

ASSERTIONS = """#include <assert.h>
#define BT_ASSERT(condition) assert(condition)
"""
"""What the programs need of an internal header, ``common/assert.h``."""

LIVE = "src.ctf.lttng-live"
"""Its script runs a server in Python, with whichever program."""
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


def python_stand_in(folder: Path) -> Path:
    """Write the Python of the scripts: what imports ``bt2`` gets our module."""
    path = folder / "python"
    ours = f'exec "{sys.executable}" -m vestige.compat.bt2 "$@"'
    path.write_text(
        "#!/bin/sh\n"
        f'case "$1" in */testrunner.py) {ours} ;; esac\n'
        f'exec "{sys.executable}" "$@"\n'
    )
    path.chmod(0o755)
    return path


def build_writers(tests: Path, folder: Path) -> None:
    """Compile the programs that write traces, and say which could not be compiled."""
    header = folder / "include" / "common" / "assert.h"
    header.parent.mkdir(parents=True)
    header.write_text(ASSERTIONS)
    shown = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "babeltrace2-ctf-writer", "glib-2.0"],
        capture_output=True,
        text=True,
        check=False,
    )
    for writer in WRITERS:
        (folder / writer).parent.mkdir(parents=True, exist_ok=True)
        includes = [f"-I{folder / 'include'}", f"-I{tests.parent / 'include'}"]
        words = [
            "cc",
            "-w",
            *includes,
            f"{tests / writer}.c",
            "-o",
            str(folder / writer),
        ]
        made = subprocess.run(
            [*words, *shown.stdout.split()], capture_output=True, check=False
        )
        if made.returncode:
            print(f"{writer} was not compiled: its cases cannot pass", file=sys.stderr)


def environment(
    tests: Path, program: Path, python: Path, folder: Path
) -> dict[str, str]:
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
        "BT_TESTS_PYTHON_BIN": str(python),
        "BT_TESTS_AWK_BIN": "awk",
        "BT_TESTS_GREP_BIN": "grep",
        "BT_TESTS_SED_BIN": "sed",
        "BT_TESTS_CC_BIN": "cc",
        "BT_TESTS_ENABLE_ASAN": "0",
        "BT_TESTS_ENABLE_PYTHON_PLUGINS": "1",
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",
    }


def run(command: list[str], tests: Path, variables: dict[str, str]) -> str:
    """Run a command, and return what it printed."""
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        running = subprocess.Popen(
            command,
            cwd=tests,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        with contextlib.suppress(subprocess.TimeoutExpired):
            running.wait(timeout=LIMIT)
        # Servers that the script left behind end, too.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        output.seek(0)
        return output.read()


def outcome(text: str) -> Outcome:
    """Return what became of the cases that a script told of."""
    plans = PLAN.findall(text)
    passed = frozenset(map(int, PASSED.findall(text)))
    return Outcome(int(plans[-1]) if plans else 0, passed)


def judge_scripts(
    tests: Path, scripts: Sequence[str], folder: Path, log: Path | None
) -> None:
    """Print a line for each script, and the sums."""
    sums = [0, 0, 0]
    print(f"{'script':56} {'cases':>6} {'passed':>7} {'proved':>7}")
    build_writers(tests, folder)
    false = Path("/bin/false")
    ours = environment(tests, stand_in(folder), python_stand_in(folder), folder)
    for script in scripts:
        text = run(["bash", str(tests / script)], tests, ours)
        keep(log, script, text)
        found = outcome(text)
        python = false if LIVE not in script else Path(ours["BT_TESTS_PYTHON_BIN"])
        nothing = environment(tests, false, python, folder)
        empty = outcome(run(["bash", str(tests / script)], tests, nothing))
        row = [found.cases, len(found.passed), len(found.passed - empty.passed)]
        sums = [one + other for one, other in zip(sums, row, strict=True)]
        print(f"{script:56} {row[0]:6} {row[1]:7} {row[2]:7}", flush=True)
    print(f"{'all':56} {sums[0]:6} {sums[1]:7} {sums[2]:7}")


def judge_bindings(tests: Path, folder: Path, log: Path | None) -> None:
    """Print a line for each file of checks of the Python module."""
    ours = environment(tests, stand_in(folder), python_stand_in(folder), folder)
    helper, checks = tests / "utils" / "utils.sh", tests / "bindings" / "python" / "bt2"
    print(f"{'checks':56} {'cases':>6} {'passed':>7}")
    for name in BINDINGS:
        runner = f'source "{helper}"; run_python_bt2_test "{checks}" test_{name}.py'
        text = run(["bash", "-c", runner], tests, ours)
        keep(log, f"test_{name}", text)
        found = outcome(text)
        print(f"{'test_' + name:56} {found.cases:6} {len(found.passed):7}", flush=True)


def keep(log: Path | None, script: str, text: str) -> None:
    """Write what a script printed into the folder for it, if there is one."""
    if log is not None:
        log.mkdir(parents=True, exist_ok=True)
        (log / f"{script.replace('/', '__')}.log").write_text(text)


def main() -> int:
    """Run the scripts or the checks of the Python module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the source tree of Babeltrace 2.0.4")
    parser.add_argument("scripts", nargs="*", help="some of the scripts")
    parser.add_argument(
        "--bindings", action="store_true", help="the Python module's checks"
    )
    parser.add_argument("--log", type=Path, help="a folder for what the scripts print")
    options = parser.parse_intermixed_args()
    tests = options.folder.resolve()
    if (tests / "tests").is_dir():
        tests /= "tests"
    with tempfile.TemporaryDirectory() as name:
        if options.bindings:
            judge_bindings(tests, Path(name), options.log)
        else:
            judge_scripts(tests, options.scripts or SCRIPTS, Path(name), options.log)
    return 0


if __name__ == "__main__":
    sys.exit(main())
