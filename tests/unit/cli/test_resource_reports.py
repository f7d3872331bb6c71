"""`vestige report --locks` and `--memory`: what a program has planted is found."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest

import vestige
from support.recorded import build_program, run_recorded
from support.recordings import DATA

LEAKED = re.compile(r"leaked (\d+) blocks of (\d+) bytes, locked (\d+) times")


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Record the program once; return the trace and the numbers that it prints."""
    directory = tmp_path_factory.mktemp("planted")
    program = build_program(directory, "planted", "-fno-builtin")
    done = run_recorded(directory / "trace", [program], "--libc", "--pthread")
    assert done.returncode == 0, done.stderr
    [numbers] = LEAKED.findall(done.stdout)
    return directory / "trace", *map(int, numbers)


def as_json(run, *words):
    """Return what a report says to programs."""
    status, text, errors = run("report", "--json", *words)
    assert (status, errors) == (0, "")
    return json.loads(text)


def test_a_leak_is_found_with_its_place(run, planted):
    """As many blocks and bytes as the program says."""
    trace, blocks, size, _ = planted
    sites = as_json(run, "--memory", trace)["sites"]
    leak = sites[0]

    assert re.fullmatch(r"leak at planted\.c:\d+", leak["place"])
    assert (leak["live_blocks"], leak["live_bytes"]) == (blocks, blocks * size)
    assert (leak["allocations"], leak["freed"]) == (blocks, 0)
    # What is got and given back at once.
    others = [one for one in sites if one["allocations"] == 1_000]
    assert [(one["live_bytes"], one["peak_bytes"]) for one in others] == [(0, 150)]


def test_paths_tell_who_has_called_the_place(run, planted):
    """The sums are the same; Python has the functions one by one."""
    flat, deep = (
        as_json(run, *words, planted[0])
        for words in (["--memory"], ["--memory", "--tree"])
    )
    leak = deep["sites"][0]

    assert leak["path"] == ["main", "leak"]
    assert flat["sites"][0]["path"] == []
    assert flat["total"] == deep["total"]
    found = vestige.open(planted[0]).memory(paths=True).sites[0]
    assert str(found).startswith("main > leak at planted.c:")


def test_a_double_free_is_found_with_both_places(run, planted):
    """The program survives it."""
    found = as_json(run, "--memory", planted[0])
    [double] = found["double_frees"]

    assert found["report"] == "memory"
    assert found["double_free_count"] == 1
    assert double["place"].startswith("free_again at planted.c:")
    assert double["first"].startswith("double_free at planted.c:")


def test_a_contended_mutex_is_found_with_who_had_it(run, planted):
    """Sums are those of the program; a slow path is in the way of the others."""
    trace, *_, locked = planted
    found = as_json(run, "--locks", trace)
    assert found["report"] == "locks"
    ours = [one for one in found["sites"] if "planted.c:" in one["place"]]
    first, second = found["mutexes"][:2]
    pairs = {
        (one["waiting"][:5], one["holding"][:5]): one for one in found["blockings"]
    }

    assert sum(one["acquired"] for one in ours) == locked
    assert (first["acquired"], first["threads"]) == (locked - 1, 4)
    assert first["blocked"] > 0
    assert first["waited_ns"] > second["waited_ns"]
    assert len(found["longest"]) == 10
    slow = next(one for one in ours if one["place"].startswith("slow"))
    assert slow["held_ns"] >= 30_000_000
    hold = next(one for one in ours if one["place"].startswith("hold"))
    assert hold["held_ns"] >= 600 * 20_000
    blocked = pairs["hold ", "slow "]
    assert 30_000_000 < blocked["longest_wait_ns"] <= slow["held_ns"]
    assert blocked["waited_ns"] <= 3 * slow["held_ns"]
    assert (
        sum(one["waited_ns"] for one in pairs.values()) <= found["total"]["waited_ns"]
    )


def test_people_read_tables(run, planted):
    """The first line sums up, and tables say what is left."""
    trace, blocks, *_ = planted
    memory, locks = (run("report", word, trace)[1] for word in ("--memory", "--locks"))

    assert re.search(rf"156.2 KiB +{blocks} .* leak at planted.c:\d+\n", memory)
    assert "freed before by double_free at planted.c:" in memory
    assert "while slow at planted.c:" in locks
    assert locks.splitlines()[0].startswith("6")


def test_spreadsheets_get_the_places(run, planted):
    """One row each, under names."""
    text = run("report", "--memory", "--to=csv", planted[0])[1]
    rows = [*csv.DictReader(io.StringIO(text))]

    assert rows[0]["place"].startswith("leak at planted.c:")
    assert rows[0]["live_bytes"] == "160000"


def test_python_gets_the_same(planted):
    """As values, and as tables in notebooks."""
    trace = vestige.open(planted[0])
    memory, locks = trace.memory(), trace.locks(longest=2)

    assert memory.sites[0].site.function == "leak"
    assert memory.sites[0].live == 160_000
    assert len(locks.longest) == 2
    assert locks.total.acquired >= planted[3]
    assert "leak at planted.c:" in memory._repr_html_()


@pytest.mark.parametrize(
    ("word", "option"), [("--locks", "--pthread"), ("--memory", "--libc")]
)
def test_traces_without_such_events_say_what_to_record(run, word, option):
    """Both with Vestige and with LTTng."""
    status, _, errors = run("report", word, DATA / "hello")

    assert status != 0
    assert f"vestige record {option}" in errors
    assert "LD_PRELOAD=liblttng-ust-" in errors


@pytest.mark.parametrize("word", ["--locks", "--memory"])
def test_threads_and_times_without_such_events_are_refused(run, planted, word):
    """Zeros would be taken for what a thread did; nothing is to be recorded anew."""
    what = "mutexes" if word == "--locks" else "memory"
    status, text, errors = run("report", word, "--thread=4194999", planted[0])
    assert (status, text) == (2, "")
    assert f"--thread=4194999: no such thread has events of {what}" in errors

    status, text, errors = run("report", word, "--begin=2100-01-01", planted[0])
    assert (status, text) == (3, "")
    assert f"no events of {what} among the chosen events" in errors
    assert "vestige record" not in errors
