"""`vestige view` and `vestige demo`: a trace for people."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from support.ctf_writer import Event, Packet, Trace, numbered
from support.recordings import DATA, DEMO, NAMES
from vestige.cli.commands.demo import INTRODUCTION, WHAT_NEXT
from vestige.cli.render import summary as module
from vestige.cli.render.summary import Summary, summary_lines

HELLO = DATA / "hello"


UNWANTED = {"NO_COLOR", "LESS", "PAGER", "BABELTRACE_TERM_COLOR"}
"""Variables that would change what a terminal shows."""


def on_a_terminal(*words, **environment):
    """Run a command line whose output is a terminal; return what is on it."""
    main, other = pty.openpty()
    fixed = {"TERM": "xterm", "TZ": "UTC"}
    ours = {name: text for name, text in os.environ.items() if name not in UNWANTED}
    process = subprocess.Popen(
        [sys.executable, "-m", "vestige", *map(str, words)],
        stdin=other,
        stdout=other,
        stderr=other,
        env=ours | fixed | environment,
    )
    os.close(other)
    pieces = []
    while True:
        try:
            piece = os.read(main, 65536)
        except OSError:
            # Linux ends a terminal whose other side is closed in this way.
            piece = b""
        if not piece:
            break
        pieces.append(piece)
    os.close(main)
    return process.wait(60), b"".join(pieces).decode(errors="replace").replace(
        "\r\n", "\n"
    )


class TestView:
    """The text, and the closing line."""

    @pytest.mark.usefixtures("utc")
    def test_text_goes_to_the_output_and_the_summary_to_the_errors(self, run):
        """So that a pipe gets events only."""
        assert run("view", "--layout=babeltrace", HELLO) == (
            0,
            (DATA / "hello.txt").read_text(),
            "4 events over 2.8 µs; nothing lost\n",
        )

    @pytest.mark.usefixtures("utc")
    def test_the_summary_counts_losses(self, run):
        """Behind the same warnings as in convert."""
        status, text, errors = run("view", "--layout=babeltrace", DATA / "lost")
        warnings = (DATA / "lost.stderr").read_text().replace("{data}", str(DATA))

        assert (status, text) == (0, (DATA / "lost.txt").read_text())
        assert (
            errors
            == warnings + "400 events over 3.181 ms; 165 events lost, 2 packets lost\n"
        )

    def test_the_summary_counts_damage(self, run, tmp_path):
        """Above it, each has a line; the status is 1."""
        packet = Packet([*numbered(1), Event(9_000_000, b"", id=99)])
        Trace(streams={"a": [packet], "b": [packet]}).write(tmp_path)
        status, text, errors = run("view", tmp_path)
        lines = errors.splitlines()

        assert (status, len(text.splitlines())) == (1, 2)
        assert [line.partition(", ")[0] for line in lines[:2]] == [
            f"vestige: error: {tmp_path / 'a'}",
            f"vestige: error: {tmp_path / 'b'}",
        ]
        assert lines[2:] == [
            "2 events over 0.0 µs; nothing lost; damaged in 2 places, see above"
        ]

    @pytest.mark.parametrize(
        ("option", "count"),
        [("--event=greeting:*", 4), ("-egreeting:said", 4), ("--event=*:start,x", 0)],
    )
    def test_events_can_be_chosen_by_name(self, run, option, count):
        """The summary counts what is shown."""
        status, text, errors = run("view", option, HELLO)

        assert (status, len(text.splitlines())) == (0, count)
        assert errors.splitlines()[-1].startswith(f"{count} events")

    def test_debug_info_is_shown_unless_it_is_not_wanted(self, run):
        """A hidden state dump counts all the same."""
        files = [
            f"--debug-info-dir={DEMO / 'debug'}",
            f"--debug-info-target-prefix={DEMO / 'root'}",
        ]
        shown = run("view", "--event=shop:order_packed", *files, DEMO / "trace")[1]
        hidden = run(
            "view", "--no-debug-info", "--event=shop:*", *files, DEMO / "trace"
        )[1]

        assert all("packer at shop.c:63" in line for line in shown.splitlines())
        assert len(shown.splitlines()) == 9
        assert ".c:" not in hidden

    @pytest.mark.parametrize(
        ("option", "colored"), [("always", True), ("never", False)]
    )
    def test_always_means_always(self, run, option, colored):
        """Unlike convert, which follows its peer."""
        assert (
            "\x1b[36mnumber\x1b[0m" in run("view", f"--color={option}", HELLO)[1]
        ) is colored

    def test_an_unknown_word_is_wrong_usage(self, run):
        """Before anything is shown."""
        status, text, errors = run("view", "--fields=colour", HELLO)

        assert (status, text) == (2, "")
        assert errors.startswith(
            "vestige: error: --fields: unknown word 'colour'; expected all,"
        )


class TestTerminal:
    """Colours and the pager."""

    def test_text_is_coloured_and_goes_through_the_pager(self):
        """The summary comes behind the pager's end."""
        status, text = on_a_terminal("view", HELLO, PAGER="sed s/greeting/gruss/")
        lines = text.splitlines()

        assert status == 0
        assert len(lines) == 5
        assert all("\x1b[1;35mgruss:said\x1b[0m  " in line for line in lines[:4])
        assert lines[4] == "4 events over 2.8 µs; nothing lost"

    @pytest.mark.parametrize(
        "environment",
        [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"BABELTRACE_TERM_COLOR": "never"}],
        ids=lambda environment: next(iter(environment)),
    )
    def test_colours_can_be_turned_off(self, environment):
        """The text is that of a pipe then."""
        _, text = on_a_terminal("view", "--no-pager", HELLO, **environment)

        assert "\x1b" not in text
        assert text.endswith("4 events over 2.8 µs; nothing lost\n")

    def test_no_pager_when_it_is_not_wanted(self):
        """It would have changed the text."""
        _, text = on_a_terminal(
            "view", "--no-pager", HELLO, PAGER="sed s/greeting/gruss/"
        )

        assert "greeting:said" in text
        assert "gruss" not in text

    def test_a_pager_that_does_not_exist_is_done_without(self):
        """The text comes all the same."""
        status, text = on_a_terminal("view", HELLO, PAGER="/nonexistent/pager -x")

        assert (status, text.count("greeting:said"), len(text.splitlines())) == (
            0,
            4,
            5,
        )

    @pytest.mark.parametrize(
        ("environment", "options"), [({}, "FRX"), ({"LESS": "S"}, "S")]
    )
    def test_less_keeps_colours_and_ends_with_a_short_text(self, environment, options):
        """Unless the person has options of their own."""
        pager = "sh -c 'cat >/dev/null; echo options: $LESS'"
        _, text = on_a_terminal("view", HELLO, PAGER=pager, **environment)

        assert text.splitlines()[0] == f"options: {options}"

    def test_a_pager_that_is_closed_early_is_no_error(self):
        """The person has seen enough: neither a message nor a summary of a part."""
        paths = [DATA / name for name in NAMES]

        assert on_a_terminal("view", *paths, PAGER="true") == (0, "")


class TestShippedDemo:
    """The recording that Vestige ships."""

    @pytest.mark.usefixtures("utc")
    def test_it_explains_shows_and_says_what_next(self, run):
        """Every event of the program with its source line."""
        status, text, errors = run("demo", "--shipped")
        events = (
            text.removeprefix(INTRODUCTION + "\n")
            .removesuffix("\n" + WHAT_NEXT)
            .splitlines()
        )

        assert (status, errors) == (0, "42 events over 102.1 µs; nothing lost\n")
        assert text.startswith(INTRODUCTION)
        assert text.endswith(WHAT_NEXT)
        assert len(events) == 42
        assert all(".c:" in line for line in events)
        assert events[10] == (
            "07:17:20.900010801  +281ns  shop 40/44  shop:order_packed    "
            "number=2 total=3705                               packer at shop.c:63"
        )

    def test_events_can_be_chosen(self, run):
        """All, with those that LTTng adds."""
        assert run("demo", "--shipped", "--event", "*")[2].startswith(
            "161 events over "
        )
        assert run("demo", "--shipped", "-e", "discount:*")[2].startswith(
            "6 events over "
        )


class TestSummary:
    """The words of the closing line."""

    @pytest.mark.parametrize(
        ("summary", "damaged", "line"),
        [
            (Summary(), 0, "0 events; nothing lost"),
            (Summary(1), 0, "1 event; nothing lost"),
            (Summary(1, 5, 5), 0, "1 event over 0.0 µs; nothing lost"),
            (
                Summary(3_000_000),
                1,
                "3,000,000 events; nothing lost; damaged in 1 place, see above",
            ),
            (
                Summary(2, lost={"packets": 1, "events": 12_345}),
                0,
                "2 events; 12,345 events lost, 1 packet lost",
            ),
            (
                Summary(2, lost={"events": 3}, uncounted={"packets"}),
                2,
                (
                    "2 events; 3 events lost, an unknown number of packets lost before "
                    "the first packet; damaged in 2 places, see above"
                ),
            ),
        ],
    )
    def test_the_line(self, summary, damaged, line):
        """Counts, time span, losses, damage."""
        assert list(summary_lines(summary, damaged=damaged)) == [line]

    @pytest.mark.parametrize(
        ("nanoseconds", "text"),
        [
            (0, "0.0 µs"),
            (999, "1.0 µs"),
            (999_900, "999.9 µs"),
            (1_000_000, "1.000 ms"),
            (999_999_000, "999.999 ms"),
            (1_000_000_000, "1.000 s"),
            (119_900_000_000, "119.900 s"),
            (120_000_000_000, "2.0 min"),
            (3_600_000_000_000, "60.0 min"),
        ],
    )
    def test_a_time_span_has_the_unit_that_suits_it(self, nanoseconds, text):
        """From microseconds to minutes."""
        assert module.duration(nanoseconds) == text
