"""The short lines of `vestige view`."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import uuid
from dataclasses import replace

import pytest

from support.ctf_writer import (
    UUID,
    UUID_TEXT,
    BitWriter,
    Event,
    Packet,
    metadata_head,
    write_trace,
)
from support.recorded import build_program, run_recorded
from support.recordings import DATA
from vestige.plain_text import plain

EVENT = 'event {{ id = {}; stream_id = 0; name = "{}"; fields := struct {{ {} }}; }};\n'


def write(directory, metadata, packet, name="s"):
    """Write a trace of one data stream."""
    return write_trace(directory, metadata, {name: packet.encode()})


def lines_on_terminal(columns, *words, **environment):
    """Return the lines of a terminal of some columns."""
    main, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    variables = {**os.environ, "TERM": "xterm", "TZ": "UTC", **environment}
    variables.setdefault("NO_COLOR", "1")
    process = subprocess.Popen(
        [sys.executable, "-m", "vestige", "view", "--no-pager", *map(str, words)],
        stdin=other,
        stdout=other,
        stderr=subprocess.DEVNULL,
        env={name: text for name, text in variables.items() if text},
    )
    os.close(other)
    pieces = []
    while True:
        try:
            piece = os.read(main, 65536)
        except OSError:
            piece = b""
        if not piece:
            break
        pieces.append(piece)
    os.close(main)
    assert process.wait(60) == 0
    return b"".join(pieces).decode().replace("\r\n", "\n").splitlines()


def strings(*texts):
    """Return a metadata text and a packet of events with a string each."""
    metadata = metadata_head() + EVENT.format(0, "a:said", "string text;")
    events = [
        Event(1000 * number, BitWriter().string(text).getvalue())
        for number, text in enumerate(texts)
    ]
    return metadata, Packet(events)


@pytest.mark.usefixtures("utc")
def test_a_recording_of_each_kind(run):
    """Per user and per process; columns are aligned."""
    assert run("view", DATA / "hello")[1].splitlines() == [
        '07:20:27.871895064          [0]  greeting:said  number=-1 text="good morning"',
        '07:20:27.871897527 +2.46µs  [0]  greeting:said  number=1 text="hello"',
        '07:20:27.871897778  +251ns  [0]  greeting:said  number=2 text="wide world"',
        '07:20:27.871897908  +130ns  [0]  greeting:said  number=9 text="good night"',
    ]
    text = run("view", "--no-debug-info", DATA / "threads-pid")[1]
    assert "  threads-68-20261121-072029  threads 68/75  threads:begin   " in text


@pytest.mark.usefixtures("utc")
def test_options_of_the_clock_hold(run):
    """As in the other layout."""
    first = run("view", "--clock-date", "--no-delta", DATA / "hello")[1].splitlines()[0]
    assert first.startswith("2026-11-21 07:20:27.871895064  [0]  greeting:said  ")
    lines = run("view", "--clock-cycles", DATA / "hello")[1].splitlines()
    assert lines[1].split()[1].startswith("+")
    assert lines[0].split()[0].isdecimal()


def test_fields_of_all_kinds(tmp_path, run):
    """Structures, arrays, variants, enumerations, floating point numbers."""
    fields = (
        'enum : uint8_t { RUNNING, two_words = 1, "a word" = 2 } state; '
        "uint8_t list[3]; struct { uint8_t a; uint16_t b; } both; "
        "floating_point { exp_dig = 11; mant_dig = 53; align = 8; } real; string text;"
    )
    metadata = metadata_head() + EVENT.format(0, "a:b", fields)
    events = [
        Event(
            state,
            lambda writer, state=state: (
                writer.integer(state, 8)
                .raw(b"\1\2\3")
                .integer(4, 8)
                .integer(5, 16)
                .float(0.5)
                .string('say "hi"')
            ),
        )
        for state in (0, 2, 7)
    ]
    text = run("view", write(tmp_path, metadata, Packet(events)))[1]

    rest = r' list=[1 2 3] both={a=4 b=5} real=0.5 text="say \"hi\""'
    assert [line.partition("  a:b  ")[2] for line in text.splitlines()] == [
        f"state=RUNNING{rest}",
        f'state="a word"{rest}',
        f"state=7{rest}",
    ]


def test_contexts_tell_process_and_thread(tmp_path, run):
    """Other contexts come after the fields of the payload."""
    context = "int32_t vpid; int32_t vtid; uint8_t procname[4]; uint32_t count;"
    context = context.replace(
        "uint8_t procname", "integer { size = 8; encoding = UTF8; } procname"
    )
    metadata = metadata_head(context=context) + EVENT.format(0, "a:b", "uint8_t x;")
    record = BitWriter().integer(12).integer(13).raw(b"shop").integer(9).integer(1, 8)
    text = run("view", write(tmp_path, metadata, Packet([Event(1, record.getvalue())])))

    assert text[1].endswith("  shop 12/13  a:b  x=1 count=9\n")


def test_several_traces_have_a_column(tmp_path, run):
    """With what their directories differ in, or their hosts."""
    for name, identity in (("one", UUID), ("other", UUID[::-1])):
        metadata, packet = strings(name)
        text = str(uuid.UUID(bytes=identity))
        metadata = metadata.replace(UUID_TEXT, text)
        write(tmp_path / name / "ust", metadata, replace(packet, uuid=identity))
    shown = run("view", tmp_path)[1]
    assert [line.split()[-3:] for line in shown.splitlines()] == [
        ["one", "a:said", 'text="one"'],
        ["other", "a:said", 'text="other"'],
    ]


def test_nothing_is_cut_in_a_pipe(tmp_path, run):
    """However long it is."""
    text = "x" * 5000
    assert f'text="{text}"\n' in run("view", write(tmp_path, *strings(text)))[1]


@pytest.mark.parametrize("columns", [60, 80, 132])
def test_lines_fit_the_terminal(tmp_path, columns):
    """What is cut ends with a sign; the place keeps its line."""
    write(tmp_path / "long", *strings("x" * 500, "short", "漢" * 300))
    lines = lines_on_terminal(columns, tmp_path / "long")
    assert all(len(line) + line.count("漢") <= columns for line in lines)
    assert lines[0].endswith("x…")
    assert lines[1].endswith('"short"')
    assert lines[2].endswith("漢…")


@pytest.mark.parametrize(("columns", "width"), [(71, 71), (60, 60), (30, 60)])
def test_on_narrow_terminals_lines_have_no_step_and_still_fit(tmp_path, columns, width):
    """Also where names leave no room for fields; they keep 60 columns."""
    name = "provider_of_events:with_a_long_name"
    _, packet = strings("x" * 50, "y")
    text = metadata_head() + EVENT.format(0, name, "string text;")
    write(tmp_path, text, packet)
    lines = lines_on_terminal(columns, tmp_path)

    assert all(len(line) <= width for line in lines)
    assert all(name[: width - 30] in line for line in lines)
    assert lines[0].endswith("…")
    assert "+" not in "".join(lines)
    assert "+" in lines_on_terminal(72, tmp_path)[1]


def test_labels_of_traces_leave_room_for_the_rest(tmp_path):
    """Their ends, which tell them apart, stay; a pipe gets all of them."""
    for name, identity in (("first", UUID), ("second", UUID[::-1])):
        metadata, packet = strings("short")
        metadata = metadata.replace(UUID_TEXT, str(uuid.UUID(bytes=identity)))
        place = tmp_path / ("directory-" * 8 + name)
        write(place, metadata, replace(packet, uuid=identity))
    lines = lines_on_terminal(80, tmp_path)

    assert all(len(line) <= 80 for line in lines)
    ends = ("…ory-directory-first  ", "…ry-directory-second  ")
    assert [any(end in line for end in ends) for line in lines] == [True, True], lines
    whole = lines_on_terminal(80, tmp_path, "--wide")
    assert "directory-" * 8 + "first" in "".join(whole)


def test_columns_and_wide_decide(tmp_path):
    """COLUMNS comes before the size of the terminal, and --wide before both."""
    write(tmp_path, *strings("x" * 300))
    [line] = lines_on_terminal(80, tmp_path, COLUMNS="100")
    assert len(line) == 100
    [line] = lines_on_terminal(300, tmp_path, "--wide", COLUMNS="100")
    assert line.endswith("x" * 300 + '"') or len(line) > 300


def test_colours_have_a_meaning(tmp_path):
    """They are there on a terminal only; errors are red."""
    text = EVENT.format(0, "a:bad", "string text;").replace(
        "name", "loglevel = 3; name"
    )
    _, packet = strings("x")
    write(tmp_path, metadata_head() + text, packet)
    [line] = lines_on_terminal(100, tmp_path, "--color=always")
    assert "\x1b[1;31ma:bad\x1b[0m" in line
    [line] = lines_on_terminal(100, tmp_path)
    assert "\x1b" not in line


def test_events_of_the_recorder_are_left_out(tmp_path, run):
    """Until they are asked for."""
    program = build_program(tmp_path)
    run_recorded(tmp_path / "trace", [program])
    _, text, errors = run("view", tmp_path / "trace")
    assert "statedump" not in text
    count = int(errors.splitlines()[1].split()[0])
    assert errors.splitlines()[1].endswith("left out; --all shows them")

    _, everything, errors = run("view", "--all", tmp_path / "trace")
    assert everything.count("\n") == text.count("\n") + count
    assert "left out" not in errors
    named = run("view", "--event=lttng_ust_statedump:*", tmp_path / "trace")[1]
    assert named.count("lttng_ust_statedump:") == named.count("\n") > 0
    other = run("view", "--layout=babeltrace", tmp_path / "trace")[1]
    assert other.count("\n") == everything.count("\n")
    _, _, errors = run("view", "--no-debug-info", tmp_path / "trace")
    assert errors.splitlines()[1].startswith(f"{count} events of the recorder")


def test_calls_are_shown_with_their_place(tmp_path, run):
    """Without the address, and without the provider of the events."""
    program = build_program(tmp_path)
    run_recorded(tmp_path / "trace", [program], "-c", "none")
    lines = run("view", tmp_path / "trace")[1].splitlines()

    assert "  func_entry  main at recorded.c:" in lines[0]
    assert "addr=" not in lines[0]
    lines = run("view", "--no-debug-info", tmp_path / "trace")[1].splitlines()
    assert "  func_entry  0x" in lines[0]


def test_options_of_the_other_layout_choose_it(run):
    """And do not go with this one."""
    shown = run("view", "--fields=all", "--names=none", DATA / "hello")[1]
    assert shown.startswith("[")
    status, _, errors = run("view", "--layout=short", "--names=none", DATA / "hello")
    assert (status, "--names is for --layout=babeltrace" in errors) == (2, True)


HOSTILE = [
    *(chr(code) for code in (*range(1, 0x21), *range(0x7E, 0xA2))),
    *(chr(code) for code in (*range(0x61B, 0x61E), *range(0x200B, 0x2071))),
    "a\x1b[2Jb\x07",
    "é漢",
    "back\\slash",
    os.fsdecode(b"\x9b2J"),
    os.fsdecode(b"\xc3"),
    os.fsdecode(b"a\xff\xfeb"),
]


def test_both_halves_write_the_same_escapes(tmp_path, run):
    """The core for what it renders, Python for all else."""
    texts = [os.fsencode(text) for text in HOSTILE]
    shown = run("view", write(tmp_path, *strings(*texts)))[1].split("\n")

    found = [line.partition('text="')[2].removesuffix('"') for line in shown[:-1]]
    quoted = [plain(text.replace("\\", "\\\\").replace('"', r"\"")) for text in HOSTILE]
    assert found == quoted


@pytest.mark.parametrize("layout", ["short", "babeltrace"])
def test_names_do_not_steer_the_terminal(tmp_path, run, layout):
    """Of hosts, events, fields, processes, and files."""
    evil = r"e\x1b[2J\x07"
    metadata = metadata_head(env=f'hostname = "h{evil}"; procname = "{evil}";')
    metadata += EVENT.format(0, f"a:{evil}", "string text;")
    packet = strings(b"\x9b1m\xc2\x9b1m\x1b[1m")[1]
    directory = tmp_path / "a\x1b[2Jb"
    write(directory, metadata, packet)
    (directory / "s").write_bytes((directory / "s").read_bytes() + b"rest")
    status, text, errors = run("view", f"--layout={layout}", directory)

    assert status == 1
    for shown in (text, errors):
        assert "e[2J" in shown
        assert shown.replace("\n", "").isprintable()
    if layout == "babeltrace":
        assert "\x1b" in run("convert", directory)[1]
