"""Probes in objects that are not there when the program begins."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool
from support.patched import EXACT, build_loader, called, needs_patching
from support.recorded import run_recorded
from vestige.record import record
from vestige.record.backends.in_process import plans
from vestige.record.backends.in_process.tracer import can_audit

pytestmark = [
    needs_patching,
    pytest.mark.skipif(not can_audit(), reason="needs glibc 2.35"),
]

PROBE = "--probe=weighing*.so:weigh(weight, what, $return)"
PATIENT = "--patch-wait=30s"
"""On a busy machine, recorders answer late."""
WEIGHED = [(7, "first"), (8, "again"), (9, "last")]
"""In the constructor, from the program, in the destructor."""


def plugin(directory, name="weighing", *flags):
    """Compile weighing.c."""
    path = directory / f"{name}.so"
    shared = ["-shared", "-fPIC", *flags, "-o", path]
    run_tool(["gcc", *EXACT, *shared, PROGRAMS / "weighing.c"])
    return path


def weighed(trace):
    """Return what was weighed, and what came of it."""
    opened = vestige.open(trace)
    return (
        [
            (event["weight"], event["what"])
            for event in opened.events("vestige_probe:weigh")
        ],
        [event["return"] for event in opened.events("vestige_probe:weigh_return")],
    )


@pytest.mark.parametrize("options", [[], ["--patch"]], ids=["alone", "patch"])
def test_calls_are_recorded_each_time_it_is_loaded(tmp_path, options):
    """From its constructor on."""
    command = [build_loader(tmp_path), "reload", "4", plugin(tmp_path)]
    done = run_recorded(tmp_path / "trace", command, PROBE, PATIENT, *options)
    assert done.returncode == 0, done.stderr
    assert "--probe" not in done.stderr
    results = [2 * weight for weight, _ in WEIGHED]
    assert weighed(tmp_path / "trace") == (4 * WEIGHED, 4 * results)
    calls = called(tmp_path / "trace")
    assert calls["plugin_run"] == (4 if options else 0)
    assert calls["weigh"] == (12 if options else 0)


@pytest.mark.parametrize("way", ["forked", "space", "late", "kept"])
def test_it_may_be_loaded_in_other_ways(tmp_path, way):
    """After fork, into a namespace of its own, and as the program ends."""
    command = [build_loader(tmp_path), way, plugin(tmp_path)]
    done = run_recorded(tmp_path / "trace", command, PROBE, PATIENT)
    assert done.returncode == 0, done.stderr
    assert weighed(tmp_path / "trace")[0][:2] == WEIGHED[:2]


def test_it_may_be_there_several_times(tmp_path):
    """In two name spaces at once; one is closed before the other."""
    command = [build_loader(tmp_path), "spaces", plugin(tmp_path)]
    done = run_recorded(tmp_path / "trace", command, PROBE, PATIENT)
    assert done.returncode == 0, done.stderr
    found, results = weighed(tmp_path / "trace")
    assert sorted(found) == sorted(2 * [WEIGHED[0], WEIGHED[2]])
    assert sorted(results) == sorted(2 * weight for weight, _ in found)
    assert not called(tmp_path / "trace")


def test_a_program_that_another_executes_may_load_it(tmp_path):
    """A shell has none of its libraries."""
    program, path = build_loader(tmp_path), plugin(tmp_path)
    command = ["sh", "-c", f"{program} reload 1 {path}; {program} reload 1 {path}"]
    done = run_recorded(tmp_path / "trace", command, PROBE, PATIENT)
    assert done.returncode == 0, done.stderr
    assert weighed(tmp_path / "trace")[0] == 2 * WEIGHED


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
@pytest.mark.parametrize("owner", [0, 65534])
def test_another_user_has_them_each_time(owner):
    """Who cannot read the trace asks again; also of a file that only its owner trusts."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        program, path = build_loader(folder), plugin(folder)
        os.chown(path, owner, owner)
        (folder / "traces").mkdir(0o700)
        code = f"import os; os.setuid(65534); os.execv('{program}', words)"
        code = f"words = ['x', 'reload', '2', '{path}']; {code}"
        command = [sys.executable, "-S", "-c", code]
        trace = folder / "traces/trace"
        done = run_recorded(trace, command, PROBE, PATIENT)
        assert done.returncode == 0, done.stderr
        assert weighed(trace)[0] == 2 * WEIGHED


def test_places_that_are_written_need_no_debug_information(tmp_path):
    """As with objects that are there from the start."""
    command = [
        build_loader(tmp_path),
        "reload",
        "1",
        plugin(tmp_path, "weighing", "-g0"),
    ]
    probe = "--probe=weighing.so:weigh(rdi:int, rsi:str)"
    done = run_recorded(tmp_path / "trace", command, probe, PATIENT)
    assert done.returncode == 0, done.stderr
    events = vestige.open(tmp_path / "trace").events("vestige_probe:weigh")
    assert [(event["rdi"], event["rsi"]) for event in events] == WEIGHED


@pytest.mark.parametrize(
    ("probe", "told"),
    [
        ("none*.so:weigh", "no object that matches 'none*.so' was loaded"),
        ("weighing.so:weight", "no such function in weighing.so; there "),
        ("weighing.so:weigh(mass)", "no parameter 'mass': there "),
    ],
)
def test_what_cannot_be_recorded_is_told(tmp_path, probe, told):
    """The program goes on, and other probes are recorded."""
    command = [build_loader(tmp_path), "reload", "2", plugin(tmp_path)]
    more = "--probe=weighing.so:plugin_run"
    done = run_recorded(tmp_path / "trace", command, f"--probe={probe}", more, PATIENT)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(f"--probe: '{probe}': {told}") == 1, done.stderr
    opened = vestige.open(tmp_path / "trace")
    assert len(list(opened.events("vestige_probe:plugin_run"))) == 2


def test_an_object_that_is_called_like_it_has_other_probes(tmp_path):
    """The first one that has the function is meant, as where all are there."""
    paths = [plugin(tmp_path, "weighing-one"), plugin(tmp_path, "weighing-two", "-O1")]
    command = [build_loader(tmp_path), "reload", "2", *paths]
    done = run_recorded(tmp_path / "trace", command, PROBE, PATIENT)
    assert done.returncode == 0, done.stderr
    assert weighed(tmp_path / "trace")[0] == 2 * WEIGHED


@pytest.mark.parametrize("size", [-8, 4, 8])
def test_damaged_probes_are_told(tmp_path, monkeypatch, size):
    """The tracer leaves the object alone."""

    def damaged(directory, name, plan):
        if b"VESTPRB1" in plan and b"VESTPLN1" in plan:
            plan = plan[:size] if size < 0 else plan + bytes(size)
        return original(directory, name, plan)

    original = plans._write
    monkeypatch.setattr(plans, "_write", damaged)
    recording = record(
        [build_loader(tmp_path), "reload", "1", plugin(tmp_path)],
        tmp_path / "trace",
        probes=(PROBE.removeprefix("--probe="),),
        patch_wait=30.0,
    )
    assert recording.status == 0
    assert recording.collected.problems == [
        "no calls of weighing.so: its plan could not be read"
    ]


def test_who_does_not_wait_is_refused(tmp_path):
    """There would be no plan."""
    command = [build_loader(tmp_path), "reload", "1", plugin(tmp_path)]
    done = run_recorded(tmp_path / "trace", command, PROBE, "--patch-wait=0")
    assert done.returncode == 125, done.stderr
    assert "no object matches 'weighing*.so'" in done.stderr
