"""`vestige run`: components and connections of a command line."""

from __future__ import annotations

import pytest

from support.recordings import DATA

TRACE = DATA / "hello" / "ust" / "uid" / "0" / "64-bit"
SOURCE = ["-c", "in:src.ctf.fs", "-p", f'inputs=["{TRACE}"]']
MUXER = ["-c", "mux:flt.utils.muxer"]
ALL = ["good morning", "hello", "wide world", "good night"]
SECOND = "1795245627.871897527"


def texts(output):
    """Return the greetings of a text."""
    return [line.rsplit('"', 2)[1] for line in output.splitlines()]


def connected(*connections):
    """Return the options of connections."""
    return [word for one in connections for word in ("-x", one)]


def test_components_run_as_they_are_connected(run):
    """A filter that is named later stands where it is connected."""
    status, text, errors = run(
        *("run", *SOURCE, *MUXER, "-c", "out:sink.text.pretty"),
        *("-c", "late:filter.utils.trimmer", "-p", f'begin="{SECOND}"'),
        *connected("in:mux", "mux:late", "late:out"),
    )

    assert (status, texts(text), errors) == (0, ALL[1:], "")


@pytest.mark.parametrize(
    ("component", "expected"),
    [
        ("filter.vestige.events -p names=[nothing]", 0),
        ('filter.vestige.events -p names=["greeting:*","other:*"]', 4),
        ('filter.vestige.events -p expressions=["number>1"]', 2),
        ("filter.utils.trimmer -l WARN -p begin=0 -p begin=1795245628", 0),
    ],
)
def test_filters_choose_events(run, component, expected):
    """Those that Babeltrace has, and ours."""
    class_name, *params = component.split()
    status, text, _ = run(
        *("run", *SOURCE, *MUXER, "-c", f"choose:{class_name}", *params),
        *("-c", "out:sink.vestige.short", "-p", "no-delta=yes"),
        *connected("in:mux", "mux:choose", "choose:out"),
    )

    assert (status, text.count("\n")) == (0, expected)


def test_several_sinks_write_what_they_get(run, tmp_path):
    """One to a file, the other to standard output."""
    path = tmp_path / "text"
    status, text, _ = run(
        *("run", *SOURCE, *MUXER, "-c", "out:sink.text.pretty"),
        *("-c", "other:src.ctf.fs", "-p", f'inputs=["{TRACE}"]'),
        *("-c", "second:filter.utils.muxer"),
        *("-c", "file:sink.text.pretty", "-p", f'path="{path}"'),
        *connected("in:mux", "mux:out", "other:second", "second:file"),
    )

    assert (status, texts(text)) == (0, ALL)
    assert path.read_text() == text


def test_base_parameters_are_those_of_all_that_follow(run):
    """Until they are reset; a component's own come after them."""
    status, text, _ = run(
        *("run", *SOURCE, *MUXER, "-b", "clock-seconds=yes", "-b", "no-delta=yes"),
        *("-c", "out:sink.text.pretty", "-p", "no-delta=no", "-r"),
        *("-c", "trim:filter.utils.trimmer", "-p", "begin=0"),
        *connected("in:mux", "mux:trim", "trim:out"),
    )

    assert status == 0
    assert text.startswith("[1795245627.871895064] (+?.?????????)")


def test_each_filter_of_one_class_adds_its_field(run):
    """With the name that it was given, in the order of the connections."""
    debug_info = "filter.lttng-utils.debug-info"
    status, text, _ = run(
        *("run", "-c", "in:src.ctf.fs", "-p", f'inputs=["{DATA / "recording-1"}"]'),
        *(*MUXER, "-c", f"a:{debug_info}", "-p", "debug-info-field-name=first"),
        *("-c", f"b:{debug_info}", "-p", "debug-info-field-name=second"),
        *("-c", "out:sink.text.pretty"),
        *connected("in:mux", "mux:b", "b:a", "a:out"),
    )
    lines = text.splitlines()

    assert status == 0
    assert lines
    assert all(
        0 < one.index("second = { bin") < one.index("first = {") for one in lines
    )


def test_messages_are_counted(run):
    """Streams and packets as the trace has them."""
    status, text, _ = run("convert", TRACE, "-c", "sink.utils.counter")

    assert status == 0
    assert text.splitlines() == [
        "              4 Event messages",
        "              2 Stream beginning messages",
        "              2 Stream end messages",
        "              2 Packet beginning messages",
        "              2 Packet end messages",
        "              0 Discarded event messages",
        "              0 Discarded packet messages",
        "              0 Message iterator inactivity messages",
        "             12 messages (TOTAL)",
    ]


def test_what_a_range_of_time_leaves_is_counted(run):
    """A packet that it cuts still begins and ends."""
    status, text, _ = run(
        "convert", TRACE, "--begin=1795245627.8718975", "-c", "sink.utils.counter"
    )

    assert status == 0
    assert [int(line.split()[0]) for line in text.splitlines()] == [
        *[3, 2, 2, 2, 2],
        *[0, 0, 0],
        11,
    ]


def test_counts_are_shown_from_time_to_time(run):
    """After a number of messages that is one of fifteens, as with Babeltrace 2."""
    words = ["convert", TRACE, "-c", "sink.utils.counter", "-p", "hide-zero=yes"]
    once = run(*words)[1]
    status, text, _ = run(*words, "-p", "hide-zero=yes,step=12")

    assert status == 0
    assert text == f"{once}\n"
    assert run(*words, "-p", "step=13")[1] == once


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "there is no source"),
        (SOURCE, "there is no sink"),
        (["-p", "x=1"], "--params: there is no component"),
        (["-c", "source.ctf.fs"], "expected NAME:TYPE.PLUGIN.CLASS"),
        (["-c", "a:b"], "expected [NAME:]TYPE.PLUGIN.CLASS, not 'a:b'"),
        (["-x", "a"], "--connect: 'a' is no connection"),
        (
            [*SOURCE, "-c", "out:sink.utils.dummy"],
            "component 'in': its output port is connected to nothing",
        ),
        (
            [*SOURCE, "-c", "out:sink.utils.count", "-x", "in:out"],
            "component 'out': there is no class 'sink.utils.count'",
        ),
    ],
)
def test_wrong_usage_is_status_2(run, words, message):
    """Before anything is read."""
    status, text, errors = run("run", *words)

    assert (status, text) == (2, "")
    assert message in errors


def test_ports_that_fit_nothing_are_told_when_the_source_is_open(run):
    """Only then their names are known."""
    status, _, errors = run(
        *("run", *SOURCE, *MUXER, "-c", "out:sink.utils.dummy"),
        *connected("in.*| 7 |*:mux", "mux:out"),
    )

    assert status == 1
    assert "no connection takes its output port '4eb40191-747b-" in errors
