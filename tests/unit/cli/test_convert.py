"""`vestige convert`: the text of Babeltrace 2, its warnings, its options."""

from __future__ import annotations

import os
import re
import sys

import pytest

from support.recordings import DATA, DEMO, NAMES, copy_trace
from vestige.cli.main import main
from vestige.components.registry import Registry

HELLO = DATA / "hello"
FIELDS = (
    "all, callsite, emf, loglevel, trace, trace:domain, trace:hostname, trace:procname, "
    "trace:vpid"
)
SCOPES = "all, arg, args, context, ctx, header, none, payload, scope"


def expected(name):
    """Return what Babeltrace 2 printed of a recording: text and warnings."""
    warnings = (DATA / f"{name}.stderr").read_text()
    return (DATA / f"{name}.txt").read_bytes(), warnings.replace("{data}", str(DATA))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("utc")
def test_text_and_warnings_are_those_of_the_peer(name, capfdbinary):
    """Byte for byte; tools/record_test_data.py records both again."""
    status = main(["convert", str(DATA / name)])
    text, warnings = capfdbinary.readouterr()

    assert text == expected(name)[0]
    assert warnings.decode() == expected(name)[1]
    assert status == 0


def test_there_is_an_expected_text_for_each_recording():
    """So that none is forgotten above."""
    assert {path.name for path in DATA.iterdir() if (path / "ust").is_dir()} == set(
        NAMES
    )


@pytest.mark.usefixtures("utc")
def test_several_paths_are_merged(run):
    """In the order of time."""
    status, text, _ = run("convert", DATA / "threads-pid", HELLO)
    threads = (DATA / "threads-pid.txt").read_text().splitlines()
    lines = text.splitlines()

    assert status == 0
    assert "\n".join(lines[:4]) + "\n" == (DATA / "hello.txt").read_text()
    assert lines[4] == threads[0].replace("+?.?????????", "+2.105124448")
    assert lines[5:] == threads[1:]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (
            ["--clock-cycles"],
            "[00000001900661820738] (+????????????) demo greeting:said: ",
        ),
        (
            ["--clock-seconds"],
            "[1795245627.871895064] (+?.?????????) demo greeting:said: ",
        ),
        (
            ["--clock-date"],
            "[2026-11-21 12:50:27.871895064] (+?.?????????) demo greeting:said: ",
        ),
        (["--clock-gmt"], "[07:20:27.871895064] (+?.?????????) demo greeting:said: "),
        (["--no-delta"], "[12:50:27.871895064] demo greeting:said: "),
        (
            ["--fields=trace"],
            "[12:50:27.871895064] (+?.?????????) demo/ust/uid/0/64-bitgreeting:said: ",
        ),
        (
            ["-f", "trace:domain, loglevel"],
            "[12:50:27.871895064] (+?.?????????) ust:TRACE_INFO (6) greeting:said: ",
        ),
        (
            ["--clock-offset=60"],
            "[12:51:27.871895064] (+?.?????????) demo greeting:said: ",
        ),
        (
            ["--clock-offset", "-60"],
            "[12:49:27.871895064] (+?.?????????) demo greeting:said: ",
        ),
        (
            ["--clock-offset-ns=-871895064"],
            "[12:50:27.000000000] (+?.?????????) demo greeting:said: ",
        ),
        (
            ["-i", "ctf", "-o", "text"],
            "[12:50:27.871895064] (+?.?????????) demo greeting:said: ",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_the_options_change_the_line_as_with_the_peer(run, time_zone, options, line):
    """Each expectation was printed by `babeltrace2` with the same options."""
    time_zone("IST-5:30")
    status, text, errors = run("convert", *options, HELLO)

    assert (status, errors) == (0, "")
    assert (
        text.splitlines()[0]
        == line + '{ cpu_id = 0 }, { number = -1, text = "good morning" }'
    )


@pytest.mark.parametrize(
    ("names", "tail"),
    [
        ("none", '{ 0 }, { -1, "good morning" }'),
        ("payload", '{ 0 }, { number = -1, text = "good morning" }'),
        ("ctx", '{ cpu_id = 0 }, { -1, "good morning" }'),
        (
            "scope",
            'stream.packet.context = { 0 }, event.fields = { -1, "good morning" }',
        ),
    ],
)
@pytest.mark.usefixtures("utc")
def test_names(run, names, tail):
    """Those of the scopes that are asked for."""
    _, text, _ = run("convert", "-n", names, HELLO)

    assert text.splitlines()[0].endswith(f" greeting:said: {tail}")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--fields=trace,colour"],
            f"--fields: unknown word 'colour'; expected {FIELDS}",
        ),
        (
            ["--fields="],
            f"--fields: unknown word ''; expected {FIELDS}",
        ),
        (
            ["--names=fields"],
            f"--names: unknown word 'fields'; expected {SCOPES}",
        ),
        (["--names=all,none"], "--names: 'all' and 'none' exclude each other"),
    ],
)
def test_an_unknown_word_is_wrong_usage(run, options, message):
    """The message lists the known ones."""
    assert run("convert", *options, HELLO) == (2, "", f"vestige: error: {message}\n")


@pytest.mark.parametrize("option", ["--clock-offset", "--clock-offset-ns"])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("9223372036854775808", "9223372036854775808 does not fit 64 bits"),
        ("1" * 40, "does not fit 64 bits"),
        ("-" + "1" * 40, "does not fit 64 bits"),
        ("soon", "'soon' is no integer"),
        ("1.5", "'1.5' is no integer"),
        ("", "'' is no integer"),
    ],
)
def test_an_offset_that_no_clock_can_have_is_wrong_usage(run, option, value, message):
    """As with the peer, and no traceback."""
    status, text, errors = run("convert", f"{option}={value}", HELLO)

    assert (status, text) == (2, "")
    assert errors.splitlines()[0].endswith(message)
    assert f"argument {option}: " in errors


def test_each_named_filter_adds_a_field(run):
    """After that which an option asks for; each has its own parameters."""
    name = "filter.lttng-utils.debug-info"
    words = ["-c", name, "-p", 'debug-info-field-name="b",full-path=yes']
    words += ["-c", f"other:{name}", "-p", 'debug-info-field-name="a"', "--debug-info"]
    status, text, errors = run("convert", DATA / "reload", *words)

    assert (status, errors) == (0, "")
    line = next(line for line in text.splitlines() if 'bin = "/' in line)
    assert re.findall(r'(\w+) = \{ bin = "(/?)', line) == [
        ("debug_info", ""),
        ("b", "/"),
        ("a", ""),
    ]


class TestOutput:
    """Where the text goes."""

    @pytest.mark.usefixtures("utc")
    def test_a_file_gets_all_of_it(self, run, tmp_path):
        """It is emptied before; warnings stay where they are."""
        path = tmp_path / "text"
        path.write_text("x" * 100_000)
        status, text, errors = run("convert", "-w", path, DATA / "lost")

        assert (status, text) == (0, "")
        assert (path.read_bytes(), errors) == expected("lost")

    def test_a_file_that_cannot_be_opened_is_status_1(self, run, tmp_path):
        """One line, with its name."""
        status, text, errors = run("convert", f"--output={tmp_path}", HELLO)

        assert (status, text) == (1, "")
        assert errors == f"vestige: error: {tmp_path}: Is a directory\n"

    def test_a_wrong_path_leaves_the_file_alone(self, run, tmp_path):
        """The trace is opened first."""
        path = tmp_path / "text"
        path.write_text("precious")

        assert run("convert", "-w", path, tmp_path / "missing")[0] == 1
        assert path.read_text() == "precious"

    def test_dummy_prints_nothing(self, run):
        """Neither text nor losses."""
        assert run("convert", "-o", "dummy", DATA / "lost") == (0, "", "")

    @pytest.mark.usefixtures("utc")
    def test_damage_is_status_1_after_the_good_events(self, run, tmp_path):
        """One line for it."""
        directory = copy_trace("lost", tmp_path / "cut")
        os.truncate(directory / "discarding_1", 5000)
        status, text, errors = run("convert", directory)
        damage = [
            line for line in errors.splitlines() if not line.startswith("WARNING: ")
        ]

        assert status == 1
        assert damage == [
            f"vestige: error: {directory / 'discarding_1'}, byte 4996: "
            + damage[0].split(": ", 3)[-1]
        ]
        assert "packet cut" in damage[0]
        assert 200 < len(text.splitlines()) < 400


class TestColor:
    """As with the peer, `always` means only where colours are supported."""

    @pytest.mark.parametrize(
        ("option", "wish", "no_color", "colored"),
        [
            ("auto", None, None, False),
            ("always", None, None, False),
            ("never", None, None, False),
            ("auto", "always", None, True),
            ("always", "ALWAYS", None, True),
            ("never", "always", None, False),
            ("auto", "never", None, False),
            ("auto", None, "1", False),
            ("always", None, "", False),
            ("auto", "always", "1", True),
        ],
    )
    def test_option_and_environment(
        self, run, monkeypatch, option, wish, no_color, colored
    ):
        """BABELTRACE_TERM_COLOR decides before NO_COLOR; the output is no terminal."""
        if wish is not None:
            monkeypatch.setenv("BABELTRACE_TERM_COLOR", wish)
        if no_color is not None:
            monkeypatch.setenv("NO_COLOR", no_color)
        _, text, _ = run("convert", f"--color={option}", HELLO)
        events = text.splitlines()[:4]

        assert [("\x1b[" in line) for line in events] == [colored] * 4

    def test_a_terminal_is_left_with_a_reset(self, run, monkeypatch):
        """Even where the text has no colours."""
        monkeypatch.setenv("BABELTRACE_TERM_COLOR", "always")

        assert run("convert", "--color=never", HELLO)[1].endswith('" }\n\x1b[0m')

    def test_a_file_gets_no_colours_by_itself(self, run, monkeypatch, tmp_path):
        """Only when it is asked for."""
        monkeypatch.setenv("BABELTRACE_TERM_COLOR", "always")
        run("convert", "-w", tmp_path / "auto", HELLO)
        run("convert", "-w", tmp_path / "always", "--color=always", HELLO)

        assert "\x1b" not in (tmp_path / "auto").read_text()
        assert "\x1b[36mnumber\x1b[0m" in (tmp_path / "always").read_text()

    def test_bright_need_not_mean_bold(self, run, monkeypatch):
        """As the environment says."""
        monkeypatch.setenv("BABELTRACE_TERM_COLOR", "always")
        monkeypatch.setenv("BABELTRACE_TERM_COLOR_BRIGHT_MEANS_BOLD", "0")

        assert "\x1b[93m" in run("convert", HELLO)[1]


class TestDebugInfo:
    """Options of the debug-info filter."""

    TRACE = DEMO / "trace"
    FILES = (
        "--debug-info-dir",
        DEMO / "debug",
        "--debug-info-target-prefix",
        DEMO / "root",
    )

    def first_discount(self, run, *options):
        """Return the debug info of the first discount, and the whole text."""
        status, text, errors = run("convert", *options, self.TRACE)
        line = next(line for line in text.splitlines() if " discount:applied: " in line)
        assert (status, errors) == (0, "")
        return line.partition('procname = "shop"')[2].partition(" }, { rule")[0]

    def test_it_is_off_by_default(self, run):
        """As with the peer."""
        assert self.first_discount(run) == ""

    @pytest.mark.parametrize("switch", [[], ["--debug-info"]])
    def test_any_of_its_options_turns_it_on(self, run, switch):
        """The switch alone would look in /usr/lib/debug only."""
        assert self.first_discount(run, *switch, *self.FILES) == (
            ', debug_info = { bin = "libdiscount.so+0x1a42", func = "discount+0xe2", '
            'src = "discount.c:13" }'
        )

    def test_full_paths(self, run):
        """Of the object on this machine and of the source as the compiler saw it."""
        found = self.first_discount(run, *self.FILES, "--debug-info-full-path")

        assert found == (
            f', debug_info = {{ bin = "{DEMO}/root/opt/vestige-demo/plugins/libdiscount.so'
            '+0x1a42", func = "discount+0xe2", src = "demo/src/demo/src/discount.c:13" }'
        )

    def test_another_name(self, run):
        """Of the structure."""
        found = self.first_discount(run, *self.FILES, "--debug-info-field-name=where")

        assert found.startswith(', where = { bin = "libdiscount.so+0x1a42"')

    def test_several_directories(self, run, tmp_path):
        """In their order, joined by colons; empty parts count for nothing."""
        options = [f"--debug-info-dir={tmp_path}::{DEMO / 'debug'}:", *self.FILES[2:]]

        assert 'func = "discount+0xe2"' in self.first_discount(run, *options)

    def test_an_event_without_a_place_has_empty_texts(self, run, tmp_path):
        """The object is not there: its name would promise more than is known."""
        options = ["--debug-info-dir", tmp_path, "--debug-info-target-prefix", tmp_path]

        assert self.first_discount(run, *options) == (
            ', debug_info = { bin = "", func = "", src = "" }'
        )

    @pytest.mark.usefixtures("utc")
    def test_a_trace_without_addresses_is_unchanged(self, run):
        """Nothing can be added."""
        _, text, _ = run("convert", "--debug-info", HELLO)

        assert text == (DATA / "hello.txt").read_text()


@pytest.mark.usefixtures("utc")
@pytest.mark.parametrize(
    "words",
    [
        ["-v"],
        ["--verbose"],
        ["-d"],
        ["--debug"],
        ["-l", "I"],
        ["--log-level=TRACE"],
        ["--retry-duration=1000"],
        ["-v", "--debug", "--retry-duration", "0"],
    ],
)
def test_general_options_of_the_peer_change_nothing(run, words):
    """They are accepted."""
    assert run("convert", *words, HELLO) == run("convert", HELLO)


@pytest.mark.parametrize("duration", ["-1", "soon", "", "1.5"])
def test_a_retry_duration_that_is_none(run, duration):
    """Is refused, as with the peer."""
    status, text, errors = run("convert", f"--retry-duration={duration}", HELLO)

    assert (status, text) == (2, "")
    assert f"argument --retry-duration: '{duration}' is no integer" in errors


def test_names_of_live_sessions_and_traces_cannot_steer_a_terminal(
    run, tmp_path, monkeypatch
):
    """Of a pipe they can be taken as they are."""
    name = "net://h/host/m/a\x1b[2Jb"
    session = {"url": name, "timer-us": 1, "stream-count": 0, "client-count": 0}
    listed = ["convert", "-i", "lttng-live", "net://h"]
    copied = ["convert", DATA / "hello", "-o", "ctf", "--output"]
    monkeypatch.setattr(Registry, "query", lambda *_: [session])
    assert run(*listed)[1].startswith(f"{name} (timer = 1,")
    assert run(*copied, tmp_path / "a\x1bb")[1].startswith(
        f"Created CTF trace `{tmp_path}/a\x1bb"
    )

    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert run(*listed)[1].startswith("net://h/host/m/a\\e[2Jb (timer = 1,")
    assert run(*copied, tmp_path / "c\x1bd")[1].startswith(
        f"Created CTF trace `{tmp_path}/c\\ed"
    )
