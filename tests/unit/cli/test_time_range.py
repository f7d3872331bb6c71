"""Options for ranges of time, and components by their names."""

from __future__ import annotations

import pytest

from support.recordings import DATA

HELLO = DATA / "hello"
DIRECTORY = HELLO / "ust" / "uid" / "0" / "64-bit"
FIRST, SECOND = "1795245627.871895064", "1795245627.871897527"


def texts(output):
    """Return the greetings of a text."""
    return [line.rsplit('"', 2)[1] for line in output.splitlines()]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--begin", SECOND], ["hello", "wide world", "good night"]),
        (["--end", FIRST], ["good morning"]),
        (["-b", SECOND, "-e", SECOND], ["hello"]),
        ([f"--timerange={FIRST},{SECOND}"], ["good morning", "hello"]),
        ([f"--timerange=[{FIRST},{SECOND}]"], ["good morning", "hello"]),
        (
            ["--clock-gmt", "--begin=07:20", "--end=07:20:27.871897527"],
            ["good morning", "hello"],
        ),
        (["-c", "filter.utils.trimmer", "-p", f'end="{FIRST}"'], ["good morning"]),
        (["-c", "flt.utils.trimmer", "-p", "begin=1795245628"], []),
        (
            [
                f"--begin={SECOND}",
                "-c",
                "filter.utils.trimmer",
                "-p",
                f'end="{SECOND}"',
            ],
            ["hello"],
        ),
    ],
)
def test_a_range_of_time_limits_what_is_printed(run, words, expected):
    """By any of the options, and by the component itself."""
    status, text, errors = run("convert", *words, HELLO)

    assert (status, texts(text), errors) == (0, expected, "")


def test_view_has_the_range_too(run):
    """There `-e` stays the short form of `--event`."""
    status, text, _ = run("view", "-e", "*said", "--end", FIRST, HELLO)

    assert (status, texts(text)) == (0, ["good morning"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--begin=1", "--begin=2"], "--begin is given twice"),
        (["--begin=1", "--timerange=1,2"], "--timerange stands for --begin and --end"),
        (["--timerange=1"], "expected BEGIN,END or [BEGIN,END], not '1'"),
        (["--timerange=[1,2"], "expected BEGIN,END or [BEGIN,END], not '[1,2'"),
        (["--timerange=,2"], "expected BEGIN,END"),
        (["--end=soon"], "--end: 'soon' is not a time"),
        (["-o", "dummy", "-o", "text"], "--output-format is given twice"),
        (["-o", "dummy", "--no-delta"], "more than one sink: 'pretty' and 'dummy'"),
        (["-c", "filter.utils.trimmer", "-p", "end=soon"], "'soon' is not a time"),
        (["-c", "source.ctf.fs"], "the parameter 'inputs' is missing"),
        (["-c", "source.text.nothing"], "no class 'source.text.nothing'"),
        (["-c", "sink.utils.dummy", "-c", "sink.text.pretty"], "more than one sink"),
        (["-p", "shape=1"], "(source.ctf.fs) has no parameter 'shape'"),
        (["-p", "trace-name=1"], "'trace-name' is a string, not 1"),
        (
            ["-c", "source.ctf.fs", "-p", "inputs=[1]"],
            "'inputs' is an array of strings",
        ),
        (
            ["-c", "sink.text.pretty", "-p", "color=red"],
            "'color' is one of never, auto",
        ),
        (["-c", "sink.utils.dummy", "-p", "a=1"], "it has none"),
    ],
)
def test_wrong_usage_is_told(run, words, message):
    """With exit status 2."""
    status, text, errors = run("convert", HELLO, *words)

    assert (status, text) == (2, "")
    assert message in errors


def test_a_range_that_begins_after_its_end_is_an_error(run):
    """The trace is not at fault, but nothing can be shown."""
    status, text, errors = run("convert", HELLO, "--begin=2", "--end=1")

    assert (status, text) == (1, "")
    assert "begins after its end" in errors


def test_components_take_the_place_of_options(run):
    """A source, a filter and a sink with their parameters."""
    named = run(
        "convert",
        *(
            "-c",
            "source.ctf.fs",
            "-p",
            f'inputs=["{DIRECTORY}"], clock-class-offset-s=1',
        ),
        *("-p", 'trace-name="mine"'),
        *("-c", "filter.utils.muxer", "-c", "mine:sink.text.pretty"),
        *("-p", "no-delta=yes, clock-seconds=yes, field-default=hide, field-trace=yes"),
    )
    options = run(
        *("convert", DIRECTORY, "--clock-offset=1", "-p", "trace-name=mine"),
        *("--no-delta", "--clock-seconds", "--fields=trace"),
    )

    assert named == options
    assert named[1].startswith("[1795245628.871895064] demo/mine")


def test_named_sources_are_read_beside_paths(run):
    """Each is a trace of its own."""
    inputs = f'inputs=["{DATA / "fields" / "ust" / "uid" / "0" / "64-bit"}"]'
    status, both, _ = run("convert", HELLO, "-c", "source.ctf.fs", "-p", inputs)
    lines = [run("convert", DATA / name)[1].count("\n") for name in ("hello", "fields")]

    assert (status, both.count("\n")) == (0, sum(lines))


def test_no_stream_has_no_time_in_common_with_others(run, tmp_path):
    """A trace without data streams has no intersection."""
    (tmp_path / "metadata").write_bytes((DIRECTORY / "metadata").read_bytes())

    status, _, errors = run("convert", "--stream-intersection", tmp_path)

    assert (status, "no data stream" in errors) == (1, True)
