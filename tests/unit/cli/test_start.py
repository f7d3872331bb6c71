"""What a command does before it does anything."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from support.recordings import DATA

SLOW = {
    *("asyncio", "dataclasses", "inspect", "json", "locale", "logging"),
    *("shutil", "signal", "socket", "subprocess", "tempfile", "textwrap", "threading"),
    *("typing", "vestige.graph.message_lane", "vestige.model"),
}
"""Modules of which each takes as long to import as reading a small trace, or longer."""


START = "from vestige.cli.start import entry_point; entry_point()"
"""As installers have it."""


def imported_by(*words):
    """Return the modules that are there when a command has run."""
    done = subprocess.run(
        # Without what the folder of installed packages has Python import at its start.
        [sys.executable, "-S", "-v", "-c", START, *map(str, words)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    return {*re.findall(r"^import '([^']*)'", done.stderr, re.MULTILINE)}


@pytest.mark.parametrize("verb", [["check"], ["convert"], ["view", "--no-pager"]])
def test_a_small_trace_does_not_wait_for_imports(verb):
    """What takes long to import is imported by those alone who need it."""
    modules = imported_by(*verb, DATA / "hello")

    assert "vestige.graph" in modules
    assert modules & SLOW == set()
    assert verb != ["convert"] or "contextlib" not in modules


@pytest.mark.parametrize("verb", ["check", "convert", "report", "view"])
def test_help_waits_for_no_more_than_the_options(verb):
    """It needs no trace, and so nothing of what reads one."""
    modules = imported_by(verb, "--help")

    assert "vestige.cli.parser" in modules
    assert modules & (SLOW - {"textwrap"}) == set()
    assert modules & {"pathlib", "vestige.core", "vestige.graph"} == set()


NEVER = SLOW | {
    *("argparse", "collections", "contextlib", "ctypes", "datetime", "encodings.ascii"),
    *("enum", "functools", "heapq", "importlib", "itertools", "keyword", "operator"),
    *("pathlib", "re", "reprlib", "shlex", "signal", "types", "uuid"),
    "vestige.advice",
    *("vestige.cli.parser", "vestige.expressions"),
}
"""Modules that no recording needs: programs wait for its start."""
COMMON = ["-q", "--libc", "-c", "vtid"]
"""Options, as somebody has them in a script."""


@pytest.mark.skipif(sys.platform != "linux", reason="there is no tracer")
@pytest.mark.parametrize(("words", "most"), [([], 110), (COMMON, 92)])
def test_a_recording_does_not_wait_for_imports(tmp_path, words, most):
    """Neither before the program nor after it; Python's own start has some 35."""
    modules = imported_by("record", *words, "-o", tmp_path / "trace", "/bin/true")

    assert "vestige.record.backends.in_process.backend" in modules
    assert modules & NEVER == set()
    assert len(modules) <= most
    assert ("vestige.core" in modules) is not bool(words)


def test_a_mistake_in_the_words_of_a_recording_is_the_parsers():
    """It says what is wrong, as for all verbs."""
    command = [sys.executable, "-m", "vestige", "record", "--quie", "--", "/bin/true"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert "unknown option '--quie'; did you mean '--quiet'?" in done.stderr
