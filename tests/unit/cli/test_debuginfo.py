"""`vestige debuginfo`: what people and programs are told."""

from __future__ import annotations

import json
import shutil
import sys

import pytest

from support.recorded import build_program, run_recorded
from support.recordings import DATA, DEMO, DEMO_DEBUG_INFO
from vestige.analysis.debug_info import (
    DebugInfoReport,
    ProcessReport,
    examine_debug_info,
)
from vestige.cli import main as cli
from vestige.cli.render.debuginfo import ReportStyle, json_text, report_lines
from vestige.components.sources.ctf_fs import CtfFsSource
from vestige.debuginfo import DebugFileFinder, Resolver
from vestige.units import Vpid

SHOP = "/opt/vestige-demo/bin/shop"
DEMO_WORDS = [
    "debuginfo",
    f"--debug-info-dir={DEMO / 'debug'}",
    f"--debug-info-target-prefix={DEMO / 'root'}",
    str(DEMO / "trace"),
]


def output(capsys, *words):
    """Run a command line that succeeds; return what it prints."""
    assert cli.main([*DEMO_WORDS, *words]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def test_each_object_with_events_has_a_row_and_the_file_of_its_names(capsys):
    """Each object with events has a row and the file of its names."""
    text = output(capsys)

    rows = [line.split() for line in text.splitlines() if line.endswith("/bin/shop")]
    assert rows == [
        ["32", "7", "lines", "564a2f265000", "25.1", "KiB", "d7799605", SHOP]
    ]
    assert "process 40 (shop): 161 events" in text
    assert "shop (build ID d7799605d4f9a80482e9385cc4248bcbf1f14c6d)" in text
    assert "debug file found by build ID" in text
    assert "debug file found by debug link" in text
    assert "before the state dump or load event of the object" in text
    assert text.endswith(
        "161 events: 77.6 % with a source line, 77.6 % with a function\n"
    )


def test_what_is_missing_comes_with_the_places_tried_and_a_command(capsys):
    """What is missing comes with the places tried and a command."""
    text = output(capsys)

    start = text.index("liblttng-ust.so.1.0.0 (build ID")
    part = text[start : text.index("\n\n", start)]
    assert "  no names" in part
    assert "(the object itself): no such file" in part
    assert ".debug (build ID): no such file" in part
    identity = "66080498e987cec627f4f0d63b826f9fd343ac74"
    assert part.endswith(f"  get it: debuginfod-find debuginfo {identity}")
    # What is found needs no list of places, until it is asked for.
    assert text.count("tried") == part.count("tried")
    assert output(capsys, "--verbose").count("tried") > text.count("tried")


def test_objects_without_events_are_listed_on_request(capsys):
    """Objects without events are listed on request."""
    assert "and 7 objects without events (see --all)" in output(capsys)
    everything = output(capsys, "--all")
    assert "see --all" not in everything
    assert "/usr/lib/x86_64-linux-gnu/libnuma.so.1.0.0 (build ID" in everything


def test_programs_get_json(capsys):
    """Programs get json."""
    report = json.loads(output(capsys, "--json"))

    (process,) = report["processes"]
    assert (report["version"], report["events"], process["vpid"]) == (1, 161, 40)
    by_path = {one["path"]: one for one in process["objects"]}
    shop = by_path["/opt/vestige-demo/bin/shop"]
    assert (shop["base"], shop["size"]) == (0x564A2F265000, 25712)
    assert (shop["events"], shop["addresses"], shop["events_with_line"]) == (32, 7, 32)
    assert (shop["source"], shop["command"]) == ("build_id", None)
    assert [one["outcome"] for one in shop["attempts"]] == ["no_dwarf", "used"]
    missing = by_path["/usr/lib/x86_64-linux-gnu/liblttng-ust.so.1.0.0"]
    assert missing["source"] == "none"
    assert missing["command"].startswith("debuginfod-find debuginfo 66080498")
    assert [(one["reason"], one["events"]) for one in process["without_object"]] == [
        ("before", 13)
    ]


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_tables_fit_the_terminal(width, monkeypatch, capsys):
    """Tables fit the terminal."""
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    lines = output(capsys, "--all").splitlines()

    table = lines[1 : lines.index("")]
    assert len(table) > 10
    assert max(map(len, table)) <= width
    assert all("shop" in line for line in table if "32    " in line)


def test_advice_for_traces_that_lack_something(capsys):
    """Advice for traces that lack something."""
    assert cli.main(["debuginfo", str(DATA / "hello")]) == 0
    text = capsys.readouterr().out
    assert "4 events without address" in text
    assert "lttng add-context -u -t ip -t vpid" in text
    assert cli.main(["debuginfo", str(DATA / "fields")]) == 0
    text = capsys.readouterr().out
    assert "(no state dump for the process)" in text
    assert "lttng enable-event -u 'lttng_ust_statedump:*'" in text


def test_a_damaged_trace_is_reported_and_the_rest_read(tmp_path, capsys):
    """A damaged trace is reported and the rest read."""
    shutil.copytree(DATA / "reload", tmp_path / "reload")
    (stream,) = [
        path
        for path in (tmp_path / "reload").rglob("*_0")
        if path.is_file() and path.stat().st_size
    ][:1]
    stream.write_bytes(stream.read_bytes()[:-1])
    status = cli.main(["debuginfo", "--json", str(tmp_path / "reload")])
    captured = capsys.readouterr()
    assert status == 1
    assert json.loads(captured.out)["damage"]
    assert str(stream) in captured.err


def test_names_in_a_trace_do_not_steer_the_terminal():
    """Names in a trace do not steer the terminal."""
    report = DebugInfoReport([ProcessReport("", Vpid(1), "evil\x1b[2J")])
    text = "\n".join(report_lines(report, {}, ReportStyle(80)))
    assert "\x1b" not in text
    assert r"evil\e[2J" in text


@pytest.mark.parametrize(
    ("words", "status"), [(["/no/such/trace"], 3), (["--nonsense", "x"], 2)]
)
def test_wrong_usage(words, status, capsys):
    """Wrong usage."""
    try:
        found = cli.main(["debuginfo", *words])
    except SystemExit as error:
        found = error.code
    assert found == status
    assert "error:" in capsys.readouterr().err


@pytest.fixture
def trace(tmp_path):
    """A copy of the demo's trace."""
    return shutil.copytree(DEMO / "trace", tmp_path / "trace")


def text_of(run, *words):
    """Return the text of a trace with its debug information."""
    status, text, errors = run("convert", "--debug-info", *words)
    assert (status, errors) == (0, "")
    return text


def test_pack_puts_the_names_beside_the_trace(trace, run):
    """Pack puts the names beside the trace."""
    expected = text_of(run, *DEMO_WORDS[1:3], trace)
    elsewhere = "--debug-info-target-prefix=/nonexistent"
    assert text_of(run, elsewhere, trace) != expected

    status, text, errors = run("debuginfo", *DEMO_WORDS[1:3], trace, "--pack")

    assert status == 0
    store = trace / "debug-info.vestige"
    assert text.startswith(f"packed 15 addresses of 3 objects into {store} (")
    assert errors == (
        "vestige: nothing is known of /usr/lib/x86_64-linux-gnu/liblttng-ust.so.1.0.0\n"
    )
    assert text_of(run, elsewhere, trace) == expected
    assert run("check", trace)[:2][0] == 0
    status, text, _ = run("debuginfo", elsewhere, trace)
    assert f"names from {store}" in text
    assert "symbols packed with the trace" in text
    status, text, errors = run("view", "--no-pager", elsewhere, trace)
    assert "  packer at " in text


def test_pack_into_a_directory_with_whole_files(trace, tmp_path, run):
    """Pack into a directory with whole files."""
    out = tmp_path / "out"
    status, text, _ = run(
        "debuginfo", *DEMO_WORDS[1:3], f"--pack={out}", "--full", trace
    )
    assert status == 0
    copied = [line for line in text.splitlines() if line.startswith("copied ")]
    assert len(copied) == 3
    assert len(list(out.glob(".build-id/*/*.debug"))) == 3
    assert not (trace / "debug-info.vestige").exists()
    expected = text_of(run, *DEMO_WORDS[1:3], trace)
    words = ("--debug-info-target-prefix=/nonexistent", f"--debug-info-dir={out}")
    assert text_of(run, *words, trace) == expected


def test_a_trace_behind_pack_is_the_trace(trace, run):
    """A trace behind pack is the trace."""
    status, text, _ = run("debuginfo", *DEMO_WORDS[1:3], "--pack", trace)
    assert status == 0
    assert str(trace / "debug-info.vestige") in text


def test_damage_of_packed_symbols_is_told_and_reading_goes_on(trace, run):
    """Damage of packed symbols is told and reading goes on."""
    elsewhere = "--debug-info-target-prefix=/nonexistent"
    before = run("convert", "--debug-info", elsewhere, trace)
    run("debuginfo", *DEMO_WORDS[1:3], trace, "--pack")
    manifest = trace / "debug-info.vestige" / "vestige-symbols" / "manifest.json"
    manifest.write_bytes(manifest.read_bytes()[:-5])

    status, text, errors = run("convert", "--debug-info", elsewhere, trace)

    assert (status, text) == before[:2]
    assert errors == (
        f"vestige: {manifest}: packed symbols are not used: its checksum is wrong\n"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--full", "x"], "--full goes with --pack"),
        (["x", "y", "--pack"], "--pack needs OUT for more than one PATH"),
        (["x", "--json", "--pack"], "--json does not go with --pack"),
        (["x", "-o", "out"], "-o goes with --pack"),
        (["x", "--pack=a", "-o", "b"], "--pack OUT and -o OUT are the same"),
    ],
)
def test_wrong_usage_of_packing(words, message, run):
    """Wrong usage of packing."""
    status, _, errors = run("debuginfo", *words)
    assert status == 2
    assert message in errors


def test_files_that_are_missing_beside_a_debug_file_are_told():
    """Files that are missing beside a debug file are told."""
    resolver = Resolver(DebugFileFinder.of(DEMO_DEBUG_INFO))
    report = examine_debug_info(CtfFsSource([DEMO / "trace"]), resolver)
    (process,) = report.processes
    process.objects[0].problems = ["shop.dwo: no such file", "evil\x1b[2J"]

    lines = list(report_lines(report, {}, ReportStyle(80)))

    assert "  problem: shop.dwo: no such file" in lines
    assert r"  problem: evil\e[2J" in lines
    assert (
        json.loads(json_text(report, {}))["processes"][0]["objects"][0]["problems"]
        == process.objects[0].problems
    )


def test_advice_for_traces_of_this_recorder(tmp_path, monkeypatch, capsys):
    """It names no command of another tracer."""
    monkeypatch.setenv("VESTIGE_WITHOUT_BADDR_STATEDUMP", "1")
    program = build_program(tmp_path)
    run_recorded(tmp_path / "trace", [program])

    assert cli.main(["debuginfo", str(tmp_path / "trace")]) == 0
    text = capsys.readouterr().out
    assert "no state dump for the process: the program had LTTNG_UST_WITHOUT" in text
    assert "lttng enable-event" not in text
