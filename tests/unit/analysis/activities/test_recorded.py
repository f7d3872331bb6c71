"""Spans and coroutines of recorded Python programs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest

import vestige
from support.python_programs import record_python, run_python
from support.recorded import run_recorded
from vestige.analysis import call_tree

OPTION = "--python-functions"
MILLISECOND = 1_000_000
VESTIGE = (sys.executable, "-m", "vestige")

PROGRAM = """\
    import asyncio, time
    from vestige.instrument import span
    work = span("app:work", item=int)

    def busy(seconds):
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            pass

    async def leaf():
        await wait()

    async def handler(number):
        with work(item=number):
            busy(0.004)
            for _ in range(3):
                await leaf()

    @span("app:decorated")
    async def decorated():
        busy(0.002)
        await wait()
        raise KeyError

    async def wait():
        # The time begins once it waits, however busy the machine is.
        loop = asyncio.get_running_loop()
        done = loop.create_future()
        loop.call_soon(lambda: (time.sleep(0.01), done.set_result(None)))
        await done

    async def main():
        jobs = [handler(n) for n in range(2)] + [decorated()]
        await asyncio.gather(*jobs, return_exceptions=True)

    asyncio.run(main())
"""


def activities(directory, kind):
    """Return the spans or coroutines of a recording, by name."""
    tree = call_tree(vestige.open(directory / "trace"))
    return {one.name: one for one in getattr(tree, kind)}


def test_coroutines_have_calls_resumes_and_two_times(tmp_path):
    """From the first entry to the return, and without what it waited."""
    record_python(tmp_path, PROGRAM, OPTION)
    found = activities(tmp_path, "coroutines")
    handler, leaf = found["handler"], found["leaf"]

    assert (handler.calls, handler.resumes, handler.elapsed.count) == (2, 6, 2)
    assert (leaf.calls, leaf.resumes, leaf.unended) == (6, 6, 0)
    assert handler.elapsed.shortest >= 34 * MILLISECOND
    assert handler.running.shortest >= 4 * MILLISECOND
    assert handler.running.total <= handler.elapsed.total - 2 * 25 * MILLISECOND
    assert leaf.elapsed.shortest >= 10 * MILLISECOND
    assert leaf.running.total <= leaf.elapsed.total - 6 * 8 * MILLISECOND
    assert handler.function.source.endswith("program.py:13")


def test_spans_run_as_long_as_their_coroutine(tmp_path):
    """Of a with statement, and of a decorated function."""
    record_python(tmp_path, PROGRAM, OPTION)
    found = activities(tmp_path, "spans")
    work, decorated = found["app:work"], found["app:decorated"]

    assert (work.calls, work.resumes, dict(work.errors)) == (2, 6, {})
    assert work.elapsed.shortest >= 34 * MILLISECOND
    assert work.running.shortest >= 4 * MILLISECOND
    assert work.running.total <= work.elapsed.total - 2 * 25 * MILLISECOND
    assert (decorated.calls, decorated.resumes) == (1, 1)
    assert dict(decorated.errors) == {"KeyError": 1}
    assert decorated.running.total >= 2 * MILLISECOND
    assert decorated.running.total <= decorated.elapsed.total - 8 * MILLISECOND
    assert work.function.source.endswith("program.py:14")


def test_without_functions_nobody_knows_how_long_a_task_ran(tmp_path):
    """So it is not told; the elapsed time is."""
    record_python(tmp_path, PROGRAM, "--functions=off")
    work = activities(tmp_path, "spans")["app:work"]

    assert (work.calls, work.elapsed.count, work.running.count) == (2, 2, 0)


def test_spans_of_threads_and_executors(tmp_path):
    """A thread is in its spans all the time; a generator waits for its caller."""
    code = """\
        import concurrent.futures, time
        from vestige.instrument import span
        part = span("app:part")

        def work(_):
            with part:
                time.sleep(0.01)

        @span("app:numbers")
        def numbers():
            yield 1
            yield 2

        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            list(pool.map(work, range(3)))
        for _ in numbers():
            time.sleep(0.01)
    """
    record_python(tmp_path, code, OPTION)
    found = activities(tmp_path, "spans")
    part, numbers = found["app:part"], found["app:numbers"]

    assert part.elapsed.count == part.running.count == 3
    assert part.elapsed.total == part.running.total
    assert numbers.elapsed.total >= 20 * MILLISECOND
    assert numbers.running.total <= numbers.elapsed.total - 19 * MILLISECOND


def test_what_has_no_end_is_counted(tmp_path):
    """A coroutine that is dropped while it waits, a span that nobody ends."""
    code = """\
        import types
        from vestige.instrument import span

        @types.coroutine
        def pause():
            yield

        async def dropped():
            await pause()

        async def ended():
            await pause()

        for _ in range(3):
            one = dropped()
            one.send(None)
        kept = one
        whole = ended()
        whole.send(None)
        try:
            whole.send(None)
        except StopIteration:
            pass
        span("app:open").__enter__()
        import os
        os._exit(0)
    """
    record_python(tmp_path, code, OPTION)
    dropped = activities(tmp_path, "coroutines")["dropped"]
    ended = activities(tmp_path, "coroutines")["ended"]
    opened = activities(tmp_path, "spans")["app:open"]

    assert dropped.calls == 3
    assert dropped.unended == 3 - dropped.elapsed.count
    assert dropped.unended >= 1
    assert (ended.calls, ended.resumes, ended.elapsed.count) == (1, 1, 1)
    assert (opened.calls, opened.unended, opened.elapsed.count) == (1, 1, 0)


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_each_version_tells_the_steps_of_coroutines(tmp_path, version):
    """However one learns of calls."""
    interpreter = shutil.which(f"python{version}")
    if (
        interpreter is None
        or subprocess.run([interpreter, "-c", ""], check=False).returncode
    ):
        pytest.skip(f"not installed: Python {version}")
    code = """\
        import asyncio

        async def items():
            yield 1
            await asyncio.sleep(0)
            yield 2

        async def fails():
            await asyncio.sleep(0)
            raise ValueError

        async def main():
            async for _ in items():
                pass
            await asyncio.gather(fails(), fails(), return_exceptions=True)

        asyncio.run(main())
    """
    done = record_python(tmp_path, code, OPTION, interpreter=(interpreter,))
    found = activities(tmp_path, "coroutines")

    assert done.returncode == 0
    rows = {
        name: (one.calls, one.resumes, one.elapsed.count) for name, one in found.items()
    }
    assert rows["items"] == (1, 3, 1)
    assert rows["fails"] == (2, 2, 2)


def test_the_report_shows_both(tmp_path):
    """And its calls of coroutines are calls, not the times that they went on."""
    record_python(tmp_path, PROGRAM, OPTION)
    words = [*VESTIGE, "report", "--limit=0", str(tmp_path / "trace")]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    tables = [part.splitlines() for part in text.split("\n\n")]
    heads = [lines[0].split()[-2] for lines in tables[1:4]]
    rows = {
        line.split()[-2]: line.split() for line in tables[1] if "program.py:" in line
    }

    assert heads == ["function", "span", "coroutine"]
    assert "app:decorated ended by KeyError (1)" in text
    # Total, with its unit, self, with its unit, then the calls.
    assert rows["handler"][4:8] == ["2", "-", "-", "-"]
    assert rows["leaf"][4] == "6"

    facts = json.loads(
        subprocess.run(
            [*words, "--json"], capture_output=True, text=True, check=True
        ).stdout
    )
    spans = {one["name"]: one for one in facts["spans"]}
    assert spans["app:work"]["calls"] == 2
    assert spans["app:decorated"]["errors"] == {"KeyError": 1}
    coroutines = {one["name"]: one for one in facts["coroutines"]}
    assert coroutines["leaf"]["resumes"] == 6
    functions = {one["function"]: one for one in facts["functions"]}
    assert functions["leaf"]["calls"] - functions["leaf"]["resumes"] == 6


def test_a_program_that_tells_its_spans_alone_has_a_report(tmp_path):
    """There are no functions to report."""
    record_python(tmp_path, PROGRAM, "--functions=off")
    words = [*VESTIGE, "report", str(tmp_path / "trace")]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout

    assert text.startswith("3 spans; no calls of functions were recorded\n")
    assert "3 spans counted without running time" in text


def test_coroutines_behave_as_without_the_recorder(tmp_path):
    """Values, exceptions, and what the interpreter shows of them."""
    code = """\
        import asyncio, gc, inspect, sys

        async def inner(value):
            await asyncio.sleep(0)
            return value, sys._getframe().f_code.co_name

        async def items():
            got = yield 1
            print("got", got)

        async def main():
            one = inner(1)
            print(inspect.getcoroutinestate(one), await one, inspect.getcoroutinestate(one))
            agen = items()
            print(await agen.asend(None))
            try:
                await agen.asend("x")
            except StopAsyncIteration:
                print("end")
            closed = inner(2)
            closed.send(None)
            closed.close()
            print(inspect.getcoroutinestate(closed))

        asyncio.run(main())
        gc.collect()
    """
    alone = run_python(tmp_path, code)
    recorded = record_python(tmp_path, code, OPTION, "-q")

    assert (recorded.stdout, recorded.stderr) == (alone.stdout, alone.stderr)
    assert "CORO_CLOSED" in recorded.stdout


def test_a_recording_without_names_of_addresses_shows_places(tmp_path):
    """Coroutines have them also without the contexts."""
    program = tmp_path / "program.py"
    program.write_text(
        "async def f(): pass\ntry: f().send(None)\nexcept StopIteration: pass\n"
    )
    command = [sys.executable, str(program)]
    run_recorded(tmp_path / "trace", command, OPTION, "-c", "none")
    trace = vestige.open(tmp_path / "trace")
    places = [
        event.debug_info for event in trace.events("vestige_python:coroutine_entry")
    ]

    assert [place.function for place in places] == ["f"]


def test_tracepoints_that_look_like_spans_are_none(tmp_path):
    """They have other fields, or other types."""
    code = """\
        from vestige.instrument import tracepoint
        tracepoint("app:a_entry", span_id=int, parent_id=int)(1, 0)
        tracepoint("app:b_entry", span_id=str, parent_id=str, task=int)("x", "y", 3)
        tracepoint("app:b_exit", span_id=str, error=int, waited=str)("x", 5, "z")
    """
    record_python(tmp_path, code)
    found = activities(tmp_path, "spans")

    assert list(found) == ["app:b"]
    assert (found["app:b"].elapsed.count, dict(found["app:b"].errors)) == (1, {"5": 1})


def test_without_short_calls_each_step_of_a_coroutine_is_a_call(tmp_path):
    """Some may be missing, so there is no table of coroutines; spans stay."""
    record_python(tmp_path, PROGRAM, OPTION)
    trace = vestige.open(tmp_path / "trace")
    whole, without = trace.call_tree(), trace.call_tree(min_duration=1)
    steps = {one.function.name: one.calls for one in whole.functions()}
    calls = {one.function.name: one.calls - one.resumes for one in without.functions()}

    assert calls["leaf"] == steps["leaf"] == 12
    assert (len(without.coroutines), len(without.spans)) == (0, len(whole.spans))
    assert without.spans
