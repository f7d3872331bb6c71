"""`vestige report`: what people and programs are told about calls."""

from __future__ import annotations

import json
import re

import pytest

from support.call_traces import enter, leave, packet, write_calls
from support.ctf_writer import Packet
from support.recordings import DATA, DEMO
from vestige.analysis.call_nodes import CallNode
from vestige.analysis.calls import CallTree, ThreadCalls
from vestige.analysis.functions import Function
from vestige.cli import main as cli
from vestige.cli.render.call_style import CallStyle, duration
from vestige.cli.render.calls import call_lines
from vestige.units import Nanoseconds, Vpid

A, B, C = 0x1000, 0x2000, 0x3000
FIRST = [
    enter(1000, A),
    enter(1100, B),
    enter(1150, C),
    leave(1160),
    leave(1300),
    enter(1400, C),
    leave(1500),
    leave(3000),
]
SECOND = [enter(1001, B), leave(1011)]


@pytest.fixture
def trace(tmp_path):
    """Return a trace of two threads."""
    streams = {"a": [packet(FIRST, vtid=5)], "b": [packet(SECOND, vtid=6)]}
    return str(write_calls(tmp_path / "trace", streams))


def output(capsys, *words):
    """Run a command line that succeeds; return what it prints."""
    assert cli.main(["report", *words]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def rows(text):
    """Return the rows of a table or tree, blanks joined."""
    lines = text.split("\n\n", 1)[1].splitlines()
    return [re.sub(r"  +", "  ", line.strip()) for line in lines]


def test_functions_with_most_time_come_first(trace, capsys):
    """Each with its calls, total, own, mean, shortest and longest time."""
    text = output(capsys, trace)

    assert text.startswith("5 calls in 2 threads, over 2.000 µs\n\n")
    assert rows(text)[:4] == [
        "total  self  calls  avg  min  max  function  place",
        "2.000 µs  1.700 µs  1  2.000 µs  2.000 µs  2.000 µs  0x1000",
        "210 ns  200 ns  2  105 ns  10 ns  200 ns  0x2000",
        "110 ns  110 ns  2  55 ns  10 ns  100 ns  0x3000",
    ]


def test_the_tree_shows_who_called_whom(trace, capsys):
    """With shares of the time of all threads together."""
    assert rows(output(capsys, "--tree", trace))[:6] == [
        "total  share  self  calls  function",
        "2.000 µs  99.5 %  1.700 µs  1  0x1000",
        "200 ns  10.0 %  190 ns  1  ├ 0x2000",
        "10 ns  0.5 %  10 ns  1  │ └ 0x3000",
        "100 ns  5.0 %  100 ns  1  └ 0x3000",
        "10 ns  0.5 %  10 ns  1  0x2000",
    ]


def test_threads_for_themselves(trace, capsys):
    """Those with most time first, whatever the order of words."""
    for words in (["--thread", trace], [trace, "--thread"]):
        text = output(capsys, *words)
        assert re.findall(r"^thread.*", text, re.MULTILINE) == [
            "thread 5 of process 77: 2.000 µs",
            "thread 6 of process 77: 10 ns",
        ]


def test_one_thread(trace, capsys):
    """The others are left out."""
    text = output(capsys, "--thread=6", trace)

    assert "1 call in 1 thread, over 10 ns" in text
    assert "thread 6 of process 77" in text
    assert "0x1000" not in text


def test_a_thread_that_is_not_there(trace, capsys):
    """Those that are there are named."""
    assert cli.main(["report", "--thread=9", trace]) == 2
    assert "--thread=9: no such thread has calls; those that have: 5, 6" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("key", "functions"),
    [
        ("total", ["0x1000", "0x2000", "0x3000"]),
        ("self", ["0x1000", "0x2000", "0x3000"]),
        ("calls", ["0x2000", "0x3000", "0x1000"]),
        ("avg", ["0x1000", "0x2000", "0x3000"]),
        ("min", ["0x1000", "0x2000", "0x3000"]),
        ("max", ["0x1000", "0x2000", "0x3000"]),
        ("name", ["0x1000", "0x2000", "0x3000"]),
    ],
)
def test_rows_are_sorted(trace, capsys, key, functions):
    """By any column; the tree too."""
    table = rows(output(capsys, f"--sort={key}", trace))

    assert [row.rpartition("  ")[2] for row in table[1:4]] == functions
    output(capsys, f"--sort={key}", "--tree", trace)


def test_a_limit_keeps_what_took_longest(trace, capsys):
    """And says what it left out."""
    table = output(capsys, "--limit=1", trace)
    tree = output(capsys, "--limit=2", "--tree", trace)

    assert "0x2000" not in table
    assert "and 2 functions more: --limit=0 shows all" in table
    assert "and 3 nodes with less time: --limit=0 shows all" in tree
    assert "0x3000" not in tree


def test_json_has_all_facts(trace, capsys):
    """As the reference describes them."""
    facts = json.loads(output(capsys, "--json", "--tree", "--thread", trace))

    assert facts["version"] == 1
    assert (facts["events"], facts["other_events"]) == (10, 0)
    assert facts["cost_of_call_ns"] is None
    assert facts["functions"][1] == {
        "function": "0x2000",
        "object": None,
        "file": None,
        "line": None,
        "address": 0x2000,
        "calls": 2,
        "complete": 2,
        "across_loss": 0,
        "no_exit": 0,
        "no_entry": 0,
        "clipped": 0,
        "total_ns": 210,
        "self_ns": 200,
        "complete_ns": 210,
        "mean_ns": 105,
        "min_ns": 10,
        "max_ns": 200,
        "resumes": 0,
    }
    assert [
        (node["id"], node["caller"], node["address"]) for node in facts["tree"]
    ] == [
        (0, None, A),
        (1, 0, B),
        (2, 1, C),
        (3, 0, C),
        (4, None, B),
    ]
    assert [
        (one["vpid"], one["vtid"], one["total_ns"]) for one in facts["threads"]
    ] == [
        (77, 5, 2000),
        (77, 6, 10),
    ]
    assert [one["calls"] for one in facts["threads"][1]["functions"]] == [1]
    assert len(facts["threads"][0]["tree"]) == 4


def test_marks_are_explained(tmp_path, capsys):
    """In the row, and in a line behind the table."""
    streams = {
        "s": [
            packet([leave(1, C, 1), enter(100, A, 1), enter(110, B, 2)]),
            packet([leave(200, A, 1)], discarded=7, sequence=3),
        ]
    }
    path = str(write_calls(tmp_path / "trace", streams))
    table, tree = output(capsys, path), output(capsys, "--tree", path)

    for line in (
        "1 call without exit",
        "1 call without entry (begun before the recording, or in a parent before fork; ",
        "1 call with lost events between entry and exit",
        "7 events lost by the tracer",
    ):
        assert line in table
    assert "uncertain" in table
    assert "0x1000 [across a loss]" in tree
    assert "0x2000 [without exit]" in tree
    assert "0x3000 [without entry]" in tree


def test_a_recording_of_lttng(capsys):
    """Has names and source lines like all others."""
    text = output(
        capsys,
        "--tree",
        f"--debug-info-dir={DEMO / 'debug'}",
        f"--debug-info-target-prefix={DEMO / 'root'}",
        str(DEMO / "trace"),
    )

    assert [row.rpartition("  ")[0].split("  ", 3)[3] for row in rows(text)[1:]] == [
        "12  price_of",
        "12  ├ unit_price_of",
        "12  └ bulk_price",
    ]
    assert "pricing.c:32" in text


def test_entries_alone_are_told_of(tmp_path, capsys):
    """They tell neither times nor callers."""
    events = [enter(100 + index, A) for index in range(10)]
    path = write_calls(tmp_path / "trace", {"s": [packet(events)]})
    text = output(capsys, str(path))

    assert "no exits were seen" in text
    assert "10 calls" in text


def test_a_trace_without_calls_says_what_to_do(capsys):
    """Its events are counted; who asks for calls has an error."""
    text = output(capsys, str(DATA / "hello"))
    assert "4 events of 1 name" in text
    assert "-finstrument-functions" in text

    assert cli.main(["report", "--tree", str(DATA / "hello")]) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "no entries or exits of functions" in captured.err
    assert "-finstrument-functions" in captured.err


def test_a_trace_without_threads_says_what_to_do(tmp_path, capsys):
    """The same."""
    streams = {"cpu0": [Packet(FIRST, context=bytes(4))]}
    path = str(write_calls(tmp_path / "trace", streams, per_thread=False))
    advice = "lttng add-context -u -t vpid -t vtid -t ip"

    assert advice in output(capsys, path)
    assert cli.main(["report", "--tree", path]) == 3
    assert advice in capsys.readouterr().err


def test_a_damaged_trace_is_reported_and_told(trace, tmp_path, capsys):
    """What is left of it."""
    stream = tmp_path / "trace" / "a"
    stream.write_bytes(stream.read_bytes()[:-30])

    assert cli.main(["report", trace]) == 1
    captured = capsys.readouterr()
    assert "0x1000" in captured.out
    assert "vestige: error:" in captured.err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--exclude-function=0x2000"], ["0x1000 1.890 µs 1", "0x3000 110 ns 2"]),
        (["--include-function=0x[23]000"], ["0x2000 200 ns 2", "0x3000 110 ns 2"]),
        (["--max-depth=1"], ["0x1000 2.000 µs 1", "0x2000 10 ns 1"]),
        (
            ["--max-depth=1", "--exclude-function=0x1000"],
            ["0x2000 210 ns 2", "0x3000 100 ns 1"],
        ),
    ],
)
def test_functions_are_chosen(trace, capsys, words, expected):
    """In the table, the tree and the JSON; how many calls are left out is told."""
    calls = sum(int(row.split()[-1]) for row in expected)
    text = output(capsys, *words, trace)
    cells = [re.split("  +", line.strip()) for line in text.splitlines()[3:5]]
    tree = output(capsys, "--tree", *words, trace)
    facts = json.loads(output(capsys, "--json", *words, trace))

    assert [f"{row[6]} {row[1]} {row[2]}" for row in cells] == expected
    assert f"{5 - calls} call" in text.splitlines()[-1]
    assert "left out as asked: their time is that of their callers" in text
    assert tree.splitlines()[-1] == text.splitlines()[-1]
    assert facts["left_out_calls"] == 5 - calls
    assert sum(one["calls"] for one in facts["functions"]) == calls
    assert (facts["events"], facts["left_out"]) == (10, 0)


def test_functions_of_one_thread_are_chosen(trace, capsys):
    """What is left out of other threads is not told."""
    text = output(capsys, "--thread=5", "--exclude-function=0x3000", trace)

    assert "2 calls in 1 thread" in text
    assert "2 calls left out as asked" in text


def test_only_my_code_keeps_compiled_functions(trace, capsys):
    """It is for Python functions."""
    assert output(capsys, "--only-my-code", trace) == output(capsys, trace)


def test_a_choice_that_leaves_nothing(trace, capsys):
    """It is an error, which names what may have been meant."""
    assert cli.main(["report", "--include-function=0x10000", trace]) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "none of the functions is among the chosen ones" in captured.err
    assert "did you mean '0x1000'" in captured.err


def test_a_pattern_of_nothing_is_told(trace, capsys):
    """Not one that matches only what is too deep."""
    words = ["--max-depth=1", "--exclude-function=0x3000", "--exclude-function=g*"]
    assert cli.main(["report", *words, trace]) == 0
    assert capsys.readouterr().err == (
        "vestige: warning: 'g*' matches no function of the trace\n"
    )


@pytest.mark.parametrize("pattern", ["", ":f", "0x10-0x20"])
def test_a_pattern_that_can_match_nothing(trace, capsys, pattern):
    """It is wrong usage."""
    assert cli.main(["report", f"--exclude-function={pattern}", trace]) == 2
    assert f"'{pattern}': expected" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["--thread", "--limit"],
        ["--limit=-1", "x"],
        ["--sort=x", "x"],
        ["--max-depth=0", "x"],
        ["--max-depth=x", "x"],
        ["--max-depth=-1", "x"],
        ["--max-depth=" + "9" * 5000, "x"],
    ],
)
def test_wrong_usage(words, capsys):
    """Has its own status, and a line that anybody can read."""
    with pytest.raises(SystemExit) as ended:
        cli.main(["report", *words])
    assert ended.value.code == 2
    assert "_limit" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (None, "-"),
        (0, "0 ns"),
        (999, "999 ns"),
        (999.6, "1.000 µs"),
        (1000, "1.000 µs"),
        (12_345, "12.35 µs"),
        (123_456, "123.5 µs"),
        (999_960, "1.000 ms"),
        (1_500_000_000, "1.500 s"),
        (119_999_999_999, "120.0 s"),
        (180_000_000_000, "3.0 min"),
        (7_199_000_000_000, "120.0 min"),
        (7_200_000_000_000, "2.0 h"),
        (172_799_000_000_000, "48.0 h"),
        (172_800_000_000_000, "2.0 days"),
        (295_244_532_000_000_000, "3,417.2 days"),
    ],
)
def test_durations_have_the_unit_that_suits_them(nanoseconds, text):
    """And four digits."""
    assert duration(nanoseconds) == text


def made_up(name, depth=40):
    """Return a tree of functions with long names."""
    root = CallNode(function=Function("(all)"))
    node = root
    for level in range(depth):
        function = Function(f"{name}{level}")
        node.callees[function] = callee = CallNode(
            function=function,
            calls=123_456_789,
            complete=123_456_789 - level,
            no_exit=level,
            total=10**12 - level,
            self_time=1,
            complete_time=10**12,
            shortest=1,
            longest=10**11,
        )
        node = callee
    thread = ThreadCalls(
        trace="",
        vpid=Vpid(1),
        vtid=1,
        name="app",
        begin=Nanoseconds(0),
        end=Nanoseconds(10**12),
        root=root,
        unknown_exits=0,
        losses=0,
        exits_are_named=True,
    )
    return CallTree(threads=[thread], cost_of_call=23.4)


@pytest.mark.parametrize("width", [60, 80, 120, 200])
@pytest.mark.parametrize("tree", [False, True])
def test_lines_fit_the_terminal(width, tree):
    """Names are cut, and less important columns go."""
    style = CallStyle(width, tree=tree, limit=20)
    lines = list(call_lines(made_up("a_very_long_name_of_a_function_" * 4), style))
    table = lines[3:-3]

    assert len(table) >= 20
    assert max(map(len, table)) <= width
    assert width == 200 or all("…" in line for line in table[1:15])


def test_what_the_tracer_costs_is_told_once():
    """Where the recording has it."""
    text = "\n".join(call_lines(made_up("f"), CallStyle(100)))

    assert text.count("about 23 ns for each call") == 1


def test_colours_are_for_terminals(trace, capsys):
    """There are none in a file."""
    assert "\x1b" not in output(capsys, trace)
    colored = "\n".join(call_lines(made_up("f"), CallStyle(100, color=True)))
    assert "\x1b[1mf0\x1b[0m" in colored
    plain = "\n".join(call_lines(made_up("f"), CallStyle(100)))
    assert re.sub(r"\x1b\[\dm", "", colored) == plain


def test_names_do_not_steer_the_terminal():
    """Whatever a symbol table says."""
    text = "\n".join(call_lines(made_up("\x1b[2J"), CallStyle(100, tree=True)))

    assert "\x1b" not in text
