"""The text of event records and of losses; every option is compared with Babeltrace 2."""

from __future__ import annotations

import io
import itertools
import os
import pty
import re

import pytest

from support.ctf_writer import Packet, Trace, numbered, write_trace
from support.recordings import DATA
from vestige.components.sinks.text_pretty import (
    FIELD_NAMES,
    NAME_SCOPES,
    TextOptions,
    TextPrettySink,
    zone_offset,
)
from vestige.components.sources.ctf_fs import CtfFsSource
from vestige.graph import Graph, LostNotice, mux

FLAGS = list(TextOptions._fields)
CLOCKS = [name for name in FLAGS if name.startswith("clock_")] + ["delta"]
FIELDS = [name for name in FLAGS if name.startswith("field_")]
SCOPES = [name for name in FLAGS if name.startswith("name_")]
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")

HELLO = {
    "cycles": (1_900_661_820_738, 1_900_661_823_201),
    "utc": ("2026-11-21 07:20:27", "871895064", "871897527"),
    "local": ("2026-11-21 12:50:27", "871895064", "871897527"),
    "seconds": "1795245627",
    "trace": "demo/ust/uid/0/64-bit",
    "facts": {
        "field_hostname": ("trace:hostname", "demo"),
        "field_domain": ("trace:domain", "ust"),
        "field_loglevel": ("loglevel", "TRACE_INFO (6)"),
        "field_emf": ("model.emf.uri", "https://example.org/greeting"),
    },
    "event": "greeting:said",
    "scopes": [
        ("stream.packet.context", "name_context", [[("cpu_id", "0")]] * 2),
        (
            "event.fields",
            "name_payload",
            [
                [("number", "-1"), ("text", '"good morning"')],
                [("number", "1"), ("text", '"hello"')],
            ],
        ),
    ],
}
"""What the first two events of `hello` say."""

THREADS = {
    "cycles": (1_902_766_948_030, 1_902_766_949_693),
    "utc": ("2026-11-21 07:20:29", "977022356", "977024019"),
    "local": ("2026-11-21 12:50:29", "977022356", "977024019"),
    "seconds": "1795245629",
    "trace": "demo/ust/pid/threads-68-20261121-072029",
    "facts": {
        "field_hostname": ("trace:hostname", "demo"),
        "field_domain": ("trace:domain", "ust"),
        "field_procname": ("trace:procname", "threads"),
        "field_vpid": ("trace:vpid", "(68)"),
        "field_loglevel": ("loglevel", "TRACE_DEBUG_LINE (13)"),
    },
    "event": "threads:begin",
    "scopes": [
        (
            "stream.packet.context",
            "name_context",
            [[("cpu_id", "0")], [("cpu_id", "1")]],
        ),
        (
            "stream.event.context",
            "name_context",
            [
                [("ip", "94082718306201"), ("vpid", "68"), ("vtid", "75")],
                [("ip", "94082718306201"), ("vpid", "68"), ("vtid", "76")],
            ],
        ),
        ("event.fields", "name_payload", [[("worker", "1")], [("worker", "2")]]),
    ],
}
"""What the first two events of `threads-pid` say."""


def expected_line(options, facts, number):
    """Compose the line of the first or second event as Babeltrace 2 does."""
    separator = ", " if options.name_header else " "
    head = _named(options, "timestamp", expected_time(options, facts, number), "[]")
    if options.delta:
        delta = expected_delta(options, facts, number)
        head += separator + _named(options, "delta", delta, "()")
    head += separator
    if options.field_trace:
        head += _named(options, "trace", facts["trace"])
        head += ", , " if options.name_header else ""
    shown = [
        _named(options, *fact)
        for option, fact in facts["facts"].items()
        if getattr(options, option)
    ]
    if shown:
        head += (", " if options.name_header else ":").join(shown) + separator
    head += _named(options, "name", facts["event"])
    scopes = [
        (f"{name} = " if options.name_scope else "")
        + expected_structure(fields[number], names=getattr(options, option))
        for name, option, fields in facts["scopes"]
    ]
    return head + (", " if options.name_header else ": ") + ", ".join(scopes)


def _named(options, name, value, brackets="  "):
    if options.name_header:
        return f"{name} = {value}"
    return (brackets[0] + value + brackets[1]).strip()


def expected_structure(fields, *, names):
    """Compose a structure, with or without the names of its fields."""
    return (
        "{ "
        + ", ".join(f"{name} = {value}" if names else value for name, value in fields)
        + " }"
    )


def expected_time(options, facts, number):
    """Compose a time stamp: cycles win over seconds, seconds over dates."""
    second, *fractions = facts["utc" if options.clock_gmt else "local"]
    if options.clock_cycles:
        return f"{facts['cycles'][number]:020}"
    if options.clock_seconds:
        return f"{facts['seconds']}.{fractions[number]}"
    return f"{second if options.clock_date else second[11:]}.{fractions[number]}"


def expected_delta(options, facts, number):
    """Compose the time since the event before."""
    if number == 0:
        return "+????????????" if options.clock_cycles else "+?.?????????"
    if options.clock_cycles:
        return f"+{facts['cycles'][1] - facts['cycles'][0]:012}"
    return f"+0.{int(facts['utc'][2]) - int(facts['utc'][1]):09}"


def merged(*names):
    """Return the only merge of recordings."""
    [merge] = mux(CtfFsSource(DATA / name for name in names).streams)
    return merge


@pytest.fixture(scope="module")
def write():
    """Return a function that gives the text that a sink writes for a merge."""
    descriptor = os.memfd_create("text")

    def write(merge, options, warnings=None):
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        sink = TextPrettySink(
            options, descriptor=descriptor, warnings=warnings or io.StringIO()
        )
        sink.consume(merge)
        sink.finish()
        text = os.pread(descriptor, 1 << 20, 0)
        assert sink.bytes_written == len(text)
        return text.decode(errors="surrogateescape")

    yield write
    os.close(descriptor)


def all_options(*groups):
    """Return options for each combination of some flags; the others are the defaults."""
    flags = list(itertools.chain(*groups))
    for values in itertools.product((False, True), repeat=len(flags)):
        yield TextOptions(**dict(zip(flags, values, strict=True)))


@pytest.mark.parametrize(
    ("name", "facts"), [("hello", HELLO), ("threads-pid", THREADS)]
)
@pytest.mark.parametrize(
    "groups",
    [(CLOCKS, SCOPES), (FIELDS, ["name_header", "delta"])],
    ids=["clocks and names", "fields"],
)
def test_each_combination_of_options_has_its_shape(
    name, facts, groups, time_zone, write
):
    """The composition above agrees with `babeltrace2` 2.0.4 for all of them."""
    time_zone("IST-5:30")
    merge = merged(name)
    count = 0
    for options in all_options(*groups):
        lines = write(merge, options).splitlines()
        assert lines[:2] == [expected_line(options, facts, number) for number in (0, 1)]
        count += 1

    assert count == 1 << len([flag for group in groups for flag in group])


@pytest.mark.parametrize("name", ["fields", "hello", "threads-pid"])
@pytest.mark.usefixtures("utc")
def test_colours_add_nothing_but_escapes(name, write):
    """Without them the text is the same, whatever names are shown."""
    merge = merged(name)
    for options in all_options(SCOPES, ["clock_date", "field_loglevel"]):
        plain = write(merge, options)
        colored = options._replace(color=True)
        text = write(merge, colored)

        if name != "fields":  # one of its strings holds escapes
            assert ESCAPE.sub("", text) == plain
        assert text.count("\x1b[0m") > plain.count("\n")


@pytest.mark.usefixtures("utc")
def test_the_colours_are_those_of_the_peer(write):
    """Bright colours are bold ones, unless the terminal knows better."""
    merge = merged("hello")
    options = TextOptions(color=True)
    first, *_ = write(merge, options).splitlines()
    options = TextOptions(color=True, bright_is_bold=False)
    bright, *_ = write(merge, options).splitlines()

    assert first == (
        "[\x1b[1m\x1b[1m\x1b[33m07:20:27.871895064\x1b[0m] (+?.?????????) demo "
        "\x1b[1m\x1b[1m\x1b[35mgreeting:said\x1b[0m: "
        "{ \x1b[36mcpu_id\x1b[0m = \x1b[1m0\x1b[0m }, "
        "{ \x1b[36mnumber\x1b[0m = \x1b[1m-1\x1b[0m, "
        '\x1b[36mtext\x1b[0m = \x1b[1m"good morning"\x1b[0m }'
    )
    assert bright != first
    assert "\x1b[93m07:20:27.871895064" in bright
    assert ESCAPE.sub("", bright) == ESCAPE.sub("", first)


@pytest.mark.usefixtures("utc")
def test_the_time_between_events_is_counted_over_merges(tmp_path):
    """A sink remembers the last event of the merge before."""
    path = tmp_path / "text"
    with path.open("wb") as file:
        sink = TextPrettySink(descriptor=file.fileno())
        sink.consume(merged("hello"))
        sink.consume(merged("threads-pid"))
    lines = path.read_text().splitlines()

    assert lines[4].startswith("[07:20:29.977022356] (+2.105124448) demo:threads:(68) ")


class TestWarnings:
    """The lines that report losses."""

    @pytest.mark.usefixtures("utc")
    def test_they_are_those_of_the_peer(self, write):
        """Word for word."""
        warnings = io.StringIO()
        write(merged("lost"), TextOptions(), warnings)
        expected = (DATA / "lost.stderr").read_text().replace("{data}", str(DATA))

        assert warnings.getvalue() == expected
        assert expected.count("\n") == 3

    @pytest.mark.usefixtures("utc")
    def test_their_times_look_like_those_of_events(self, write):
        """Dates too, when they are wanted."""
        warnings = io.StringIO()
        write(merged("lost"), TextOptions(clock_date=True), warnings)

        assert (
            "discarded 83 events between [2026-11-21 07:21:53.487515106] "
            "and [2026-11-21 07:21:53.490627438]"
        ) in warnings.getvalue()

    @pytest.mark.parametrize(
        ("kind", "count", "words"),
        [
            ("events", 1, "Tracer discarded 1 event between"),
            ("events", 2, "Tracer discarded 2 events between"),
            ("packets", 1, "Tracer discarded 1 packet between"),
            ("packets", 0, "Tracer discarded 0 packets between"),
            ("events", None, "Tracer may have discarded events between"),
            ("packets", None, "Tracer may have discarded packets between"),
        ],
    )
    @pytest.mark.usefixtures("utc")
    def test_their_words_suit_the_number(self, kind, count, words):
        """One, several, or nobody knows."""
        stream = CtfFsSource([DATA / "hello"]).streams[0]
        warning = TextPrettySink(descriptor=1).warning(
            LostNotice(0, stream, kind, count, 0, 1_000_000_001)
        )

        assert warning == (
            f"WARNING: {words} [00:00:00.000000000] and [00:00:01.000000001] "
            'in trace "demo/ust/uid/0/64-bit" (UUID: 4eb40191-747b-4010-a2fd-59bdd2b62dc3) '
            f'within stream "{stream.path}" (stream class ID: 0, stream ID: 0).\n'
        )

    def test_a_loss_at_an_unknown_time(self):
        """One end alone is no range."""
        stream = CtfFsSource([DATA / "hello"]).streams[0]
        sink = TextPrettySink(descriptor=1)

        for begin, end in ((None, None), (5, None), (None, 5)):
            warning = sink.warning(LostNotice(0, stream, "events", 3, begin, end))
            assert "discarded 3 events (unknown time range) in trace" in warning

    def test_they_are_coloured_only_where_both_outputs_are_terminals(self, monkeypatch):
        """NO_COLOR decides first."""

        class Terminal(io.StringIO):
            def isatty(self):
                return True

        stream = CtfFsSource([DATA / "hello"]).streams[0]
        notice = LostNotice(0, stream, "events", 3, 5, 6)
        monkeypatch.delenv("NO_COLOR", raising=False)
        monkeypatch.setattr("sys.stdout", Terminal())
        both = TextPrettySink(descriptor=1, warnings=Terminal()).warning(notice)
        one = TextPrettySink(descriptor=1, warnings=io.StringIO()).warning(notice)
        monkeypatch.setenv("NO_COLOR", "")
        none = TextPrettySink(descriptor=1, warnings=Terminal()).warning(notice)

        assert both.startswith("\x1b[33m\x1b[1mWARNING\x1b[0m\x1b[33m: Tracer ")
        assert both.endswith("\x1b[0m\n")
        assert one == none == ESCAPE.sub("", both)


def test_names_cannot_steer_a_terminal(tmp_path):
    """To a file they go as they are: Babeltrace 2 writes them so."""
    metadata = Trace().metadata().replace("event_0", "even\\x1b[2Jt")
    trace = write_trace(
        tmp_path / "trace", metadata, {"s": Packet(numbered(1)).encode()}
    )
    terminal, other = pty.openpty()
    file = os.open(tmp_path / "text", os.O_WRONLY | os.O_CREAT)
    for descriptor in (other, file):
        sink = TextPrettySink(descriptor=descriptor)
        Graph([CtfFsSource([trace])], sink).run()
        os.close(descriptor)
    shown = os.read(terminal, 4096)
    os.close(terminal)

    assert b" even\\e[2Jt: " in shown
    assert b" even\x1b[2Jt: " in (tmp_path / "text").read_bytes()


class TestOptions:
    """Words of the command line and the options they mean."""

    def test_the_defaults(self):
        """Those of Babeltrace 2."""
        on = {name for name in FLAGS if getattr(TextOptions(), name)}

        assert on == {
            "delta",
            "field_hostname",
            "field_procname",
            "field_vpid",
            "name_payload",
            "name_context",
            "bright_is_bold",
        }

    @pytest.mark.parametrize(
        ("words", "expected"),
        [
            (["trace"], {"field_trace"}),
            (["trace:vpid", "loglevel"], {"field_vpid", "field_loglevel"}),
            (["callsite"], set()),
            (["callsite", "emf"], {"field_emf"}),
            (["all"], set(FIELDS)),
            (["trace", "all"], set(FIELDS)),
        ],
    )
    def test_fields_are_exactly_the_named_ones(self, words, expected):
        """The defaults are gone; other options stay."""
        options = TextOptions(clock_date=True).with_fields(words)

        assert {name for name in FIELDS if getattr(options, name)} == expected
        assert options.clock_date
        assert options.name_payload

    @pytest.mark.parametrize(
        ("words", "expected"),
        [
            (["none"], set()),
            (["all"], set(SCOPES)),
            (["args"], {"name_payload"}),
            (["arg", "payload"], {"name_payload"}),
            (["ctx"], {"name_context"}),
            (
                ["context", "scope", "header"],
                {"name_context", "name_scope", "name_header"},
            ),
        ],
    )
    def test_names_are_exactly_those_of_the_scopes(self, words, expected):
        """Some scopes have several words."""
        options = TextOptions(color=True).with_names(words)

        assert {name for name in SCOPES if getattr(options, name)} == expected
        assert options.color
        assert options.field_hostname

    def test_every_word_means_an_option_that_exists(self):
        """All of them are reachable."""
        assert {option for option in FIELD_NAMES.values() if option} == set(FIELDS)
        assert set(NAME_SCOPES.values()) == set(SCOPES)


class TestTimeZones:
    """The offset of local time, which may change with the seasons."""

    @pytest.mark.parametrize(
        ("zone", "seconds", "offset"),
        [
            ("UTC", 0, 0),
            ("IST-5:30", 1_795_245_627, 19_800),
            ("EST5", 0, -18_000),
            ("CET-1CEST,M3.5.0,M10.5.0/3", 1_795_245_627, 3_600),
            ("CET-1CEST,M3.5.0,M10.5.0/3", 1_782_000_000, 7_200),
        ],
    )
    def test_it_is_that_of_the_moment(self, time_zone, zone, seconds, offset):
        """Winter and summer of one place differ."""
        time_zone(zone)

        assert zone_offset(seconds) == offset

    def test_a_time_before_the_epoch_is_shown_in_seconds(self, time_zone):
        """As the peer falls back to, for want of a date."""
        time_zone("EST5")
        renderer = TextPrettySink(TextOptions(clock_date=True), descriptor=1)._renderer

        assert renderer.time(0) == "1969-12-31 19:00:00.000000000"
        assert renderer.time(-1) == "-0.000000001"


def test_text_that_cannot_be_written_is_an_os_error():
    """The device is always full."""
    descriptor = os.open("/dev/full", os.O_WRONLY)
    try:
        with pytest.raises(OSError, match="No space left on device"):
            Graph(
                [CtfFsSource([DATA / "hello"])], TextPrettySink(descriptor=descriptor)
            ).run()
    finally:
        os.close(descriptor)
