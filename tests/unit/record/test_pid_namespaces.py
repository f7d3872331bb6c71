"""Two containers in one recording: each has a process 1 of its own."""

from __future__ import annotations

import shlex
import subprocess
from collections import Counter, defaultdict

import pytest

import vestige
from support.compilers import run_tool
from support.recorded import run_recorded
from vestige.analysis import call_tree

INSIDE = ["unshare", "-Upfr", "setarch", "-R"]
PROGRAM = """
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
{padding}
__attribute__((noinline)) void {prefix}_called(void) {{ __asm__ volatile(""); }}
__attribute__((noinline)) void {prefix}_caller(void) {{ {prefix}_called(); usleep(100); }}
static void *thread(void *unused) {{ {prefix}_caller(); return unused; }}
int main(int count, char **arguments)
{{
	pthread_t other;
	if (count > 2) {{ {prefix}_called(); return 0; }}
	for (int turn = 0; turn < 200; turn++)
		{prefix}_caller();
	pthread_create(&other, NULL, thread, NULL);
	pthread_join(other, NULL);
	if (!fork()) {{
		{prefix}_caller();
		execl(arguments[0], arguments[0], "again", "and again", NULL);
		_exit(1);
	}}
	wait(NULL);
	return 0;
}}
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A recording of two programs at once, each in a namespace of its own."""
    if subprocess.run([*INSIDE, "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs unshare(1) and setarch(1), and the right to use them")
    directory = tmp_path_factory.mktemp("namespaces")
    lines = []
    for prefix, padding in (("one", ""), ("two", "int padding(int n) { return n; }")):
        source = directory / f"{prefix}.c"
        source.write_text(PROGRAM.format(prefix=prefix, padding=padding))
        options = ["-g", "-O1", "-finstrument-functions", "-pthread"]
        run_tool(["gcc", *options, "-o", directory / prefix, source])
        lines.append(shlex.join([*INSIDE, str(directory / prefix)]))
    script = f"{lines[0]} & {lines[1]} & wait"
    done = run_recorded(directory / "trace", ["sh", "-c", script], "-c", "ip,vpid,vtid")
    assert done.returncode == 0, done.stderr
    return directory / "trace"


def test_no_process_gets_the_names_of_another(recorded):
    """The main program, its thread, its child, and what that executes."""
    found = defaultdict(set)
    for event in vestige.open(recorded).events("*:func_*"):
        place = event.debug_info
        assert place.function is not None
        found[event.stream.id].add(place.function.partition("_")[0])
    names = [names - {"main", "thread"} for names in found.values()]

    # Two of threads, two of children, two of what these execute.
    assert len(names) == 8
    assert sorted(map(sorted, names)) == [["one"]] * 4 + [["two"]] * 4


def test_a_report_counts_the_calls_of_each(recorded):
    """It has both functions, and no address without a name."""
    tree = call_tree(vestige.open(recorded))
    calls = Counter()
    for one in tree.functions():
        calls[one.function.name] += one.calls

    for prefix in ("one", "two"):
        assert calls[f"{prefix}_caller"] == 202
        assert calls[f"{prefix}_called"] == 203
    assert calls["main"] == 4
