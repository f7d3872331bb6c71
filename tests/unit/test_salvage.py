"""Damage end to end: what is printed around it, reported, checked and repaired."""

from __future__ import annotations

import json
import os
import random
import shutil
import struct
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import vestige
from support.ctf_writer import Event, Packet, Trace, numbered
from vestige import Damage, TraceDamageWarning, TraceFormatError
from vestige.cli.main import main

PACKETS = 25
EVENTS = 2000
"""Event records in each packet."""
DATA = Path(__file__).parents[1] / "data"


def packets(first: int = 0) -> list[Packet]:
    """Return 25 packets of 2,000 events whose values count up from ``first``."""
    made = []
    for number in range(PACKETS):
        values = range(first + number * EVENTS, first + (number + 1) * EVENTS)
        events = [Event(10_000 + value, struct.pack("<I", value)) for value in values]
        made.append(Packet(events, sequence=number, padding=100))
    return made


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """A trace of one data stream."""
    directory = tmp_path_factory.mktemp("whole") / "trace"
    return Trace(streams={"stream": packets()}).write(directory)


@pytest.fixture
def damaged(whole, tmp_path):
    """A copy that a test may damage."""
    return Path(shutil.copytree(whole, tmp_path / "trace"))


def run(*words: object) -> subprocess.CompletedProcess[str]:
    """Run the command line."""
    command = [sys.executable, "-m", "vestige", *map(str, words)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=60
    )


def values(trace: Path) -> list[int]:
    """Return the values of the events that can be read, whatever is damaged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TraceDamageWarning)
        return [event["value"] for event in vestige.open(trace, debug_info=False)]


def found_damage(trace: Path) -> list[Damage]:
    """Return the damage of a trace."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TraceDamageWarning)
        opened = vestige.open(trace, debug_info=False)
        list(opened.events())
    return opened.damage


def packet_size(trace: Path) -> int:
    """Return the size of each packet, bytes."""
    return (trace / "stream").stat().st_size // PACKETS


def overwrite(path: Path, offset: int, data: bytes) -> None:
    """Write over some bytes of a file."""
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(data)


def cut_stream(trace: Path) -> list[int]:
    """Cut the stream inside of packet 21 of 25."""
    os.truncate(trace / "stream", 20 * packet_size(trace) + packet_size(trace) // 2)
    return list(range(20 * EVENTS))


def wrong_magic(trace: Path) -> list[int]:
    """Make one byte of the magic number of packet 11 wrong."""
    overwrite(trace / "stream", 10 * packet_size(trace) + 1, b"\x00")
    return list(range(PACKETS * EVENTS))


def wrong_header(trace: Path) -> list[int]:
    """Fill the header of packet 11 with other bytes."""
    overwrite(trace / "stream", 10 * packet_size(trace), b"\xab" * 48)
    return [*range(10 * EVENTS), *range(11 * EVENTS, PACKETS * EVENTS)]


def zeros_behind(trace: Path) -> list[int]:
    """Append 64 KiB of zeros."""
    os.truncate(trace / "stream", (trace / "stream").stat().st_size + 65536)
    return list(range(PACKETS * EVENTS))


def one_of_two_cut(trace: Path) -> list[int]:
    """Add a data stream whose first packet is cut in its header."""
    (trace / "other").write_bytes(packets(1_000_000)[0].encode()[:20])
    return list(range(PACKETS * EVENTS))


def metadata_cut(trace: Path) -> list[int]:
    """Cut the metadata inside of a declaration that no event needs."""
    with (trace / "metadata").open("a") as file:
        file.write('event { id = 7; stream_id = 0; name = "never"; fields := stru')
    return list(range(PACKETS * EVENTS))


DAMAGES = {
    "cut in packet 21": (cut_stream, "packet-cut"),
    "wrong magic": (wrong_magic, "bad-magic"),
    "wrong header": (wrong_header, "bad-magic"),
    "zeros behind": (zeros_behind, "zero-padding"),
    "one of two cut": (one_of_two_cut, "stream-unreadable"),
    "metadata cut": (metadata_cut, "metadata-cut"),
}


@pytest.mark.parametrize("name", DAMAGES)
class TestFiveDamages:
    """For each of these, Babeltrace 2.0.4 prints not a single event."""

    def test_all_intact_packets_are_printed(self, damaged, name):
        """And more, where a packet is cut."""
        spoil, kind = DAMAGES[name]
        expected = spoil(damaged)
        result = run("convert", damaged)
        lines = result.stdout.splitlines()

        assert result.returncode == 1
        assert len(lines) >= len(expected)
        assert values(damaged)[: len(expected)] == expected
        [damage] = found_damage(damaged)
        assert damage.kind == kind
        assert result.stderr == f"vestige: error: {damage}\n"

    def test_check_reports_it(self, damaged, name):
        """As text and as JSON, with status 1."""
        spoil, kind = DAMAGES[name]
        spoil(damaged)
        text, facts = run("check", damaged), run("check", "--json", damaged)

        assert (text.returncode, facts.returncode) == (1, 1)
        assert "damaged in 1 place" in text.stdout
        found = json.loads(facts.stdout)
        assert found["status"] == "damaged"
        assert [damage["kind"] for damage in found["damage"]] == [kind]

    def test_strict_stops_at_it(self, damaged, name):
        """With every command that reads, and from Python."""
        spoil, kind = DAMAGES[name]
        spoil(damaged)
        for verb in ("convert", "view", "check"):
            assert run(verb, "--strict", damaged).returncode == 1
        with pytest.raises(TraceFormatError) as caught:
            list(vestige.open(damaged, strict=True, debug_info=False).events())

        assert caught.value.damage.kind == kind

    def test_a_repaired_copy_is_sound(self, damaged, tmp_path, name):
        """It prints what was printed of the damaged one, and no error."""
        spoil, _ = DAMAGES[name]
        spoil(damaged)
        before = {path: path.read_bytes() for path in damaged.iterdir()}
        repaired = tmp_path / "repaired"
        assert run("repair", damaged, repaired).returncode == 1
        printed = run("convert", repaired)

        assert printed.returncode == 0
        assert printed.stdout == run("convert", damaged).stdout
        assert run("check", repaired).returncode == 0
        assert {path: path.read_bytes() for path in damaged.iterdir()} == before


def test_repair_puts_a_header_right(damaged, whole, tmp_path):
    """The copy has the bytes that the tracer wrote."""
    wrong_magic(damaged)
    overwrite(damaged / "stream", 5 * packet_size(damaged) + 4, bytes(16))
    result = run("repair", damaged, tmp_path / "out")

    assert "23 packets kept as they were, 2 with a header put right" in result.stdout
    copy = (tmp_path / "out" / "stream").read_bytes()
    assert copy == (whole / "stream").read_bytes()


class TestFacts:
    """What a Damage tells."""

    def test_the_range_and_the_loss(self, damaged):
        """Bytes, records estimated from those around, and the times between."""
        size = packet_size(damaged)
        wrong_header(damaged)
        [damage] = found_damage(damaged)

        assert (damage.path, damage.start, damage.end) == (
            str(damaged / "stream"),
            10 * size,
            11 * size,
        )
        assert damage.lost_records == pytest.approx(EVENTS, rel=0.1)
        assert damage.lost_from == 10_000 + 10 * EVENTS - 1
        assert damage.lost_until == 10_000 + 11 * EVENTS

    def test_the_warning_points_at_the_code_of_the_user(self, damaged):
        """Not at the inside of the package."""
        zeros_behind(damaged)
        with pytest.warns(TraceDamageWarning) as caught:
            for _ in vestige.open(damaged, debug_info=False):
                pass

        assert caught[0].filename == __file__

    def test_a_flood_is_summed_up(self, damaged):
        """Twenty lines for a file, then one; all of it stays in the JSON."""
        size = packet_size(damaged)
        for number in range(24):
            overwrite(damaged / "stream", number * size, b"\0")
        result, facts = run("convert", damaged), run("check", "--json", damaged)
        lines = result.stderr.splitlines()

        assert len(json.loads(facts.stdout)["damage"]) in range(1, 25)
        assert len(lines) <= 21

    def test_a_sound_trace_is_clean(self, whole):
        """Status 0, and the numbers of what is in it."""
        result = run("check", "--json", whole)
        facts = json.loads(result.stdout)

        assert (result.returncode, facts["status"], facts["damage"]) == (0, "clean", [])
        [trace] = facts["traces"]
        assert (trace["packets"], trace["events"]) == (PACKETS, PACKETS * EVENTS)
        assert (trace["begin"], trace["end"]) == (10_000, 10_000 + PACKETS * EVENTS - 1)

    @pytest.mark.parametrize("content", [b"", b"no metadata at all"])
    def test_metadata_without_use_are_unreadable(self, damaged, content):
        """Status 3."""
        (damaged / "metadata").write_bytes(content)
        result = run("check", damaged)

        assert result.returncode == 3
        assert result.stderr.startswith("vestige: error: ")


class TestIndex:
    """LTTng's index beside a data stream file."""

    def index(self, trace: Path, offsets: list[int]) -> None:
        """Write an index that covers the file and tells these packet offsets."""
        ends = [*offsets[1:], (trace / "stream").stat().st_size]
        body = struct.pack(">4I", 0xC1F1DCC1, 1, 1, 72)
        for number, (start, end) in enumerate(zip(offsets, ends, strict=True)):
            bits = (end - start) * 8
            first = 10_000 + number * EVENTS
            body += struct.pack(
                ">9Q", start, bits, bits, first, first + EVENTS - 1, 0, 0, 0, number
            )
        (trace / "index").mkdir()
        (trace / "index" / "stream.idx").write_bytes(body)

    def test_one_that_lies_is_not_believed(self, damaged):
        """The packets are found by their headers."""
        size = packet_size(damaged)
        self.index(damaged, [number * size + bool(number) for number in range(PACKETS)])

        assert values(damaged) == list(range(PACKETS * EVENTS))
        assert found_damage(damaged) == []

    def test_one_that_is_right_leads_past_a_bad_packet(self, damaged):
        """The packet is reported all the same."""
        size = packet_size(damaged)
        self.index(damaged, [number * size for number in range(PACKETS)])
        expected = wrong_magic(damaged)

        assert values(damaged) == expected
        assert [damage.kind for damage in found_damage(damaged)] == ["bad-magic"]


class TestOddFiles:
    """What is no regular file is reported and passed over."""

    def test_a_fifo_a_directory_and_a_device(self, damaged):
        """Nobody waits for them."""
        os.mkfifo(damaged / "fifo")
        (damaged / "directory").mkdir()
        (damaged / "device").symlink_to("/dev/zero")
        result = run("convert", damaged)

        assert result.returncode == 1
        assert len(result.stdout.splitlines()) == PACKETS * EVENTS
        assert result.stderr.splitlines() == [
            f"vestige: error: {damaged}/{name}: not a regular file; expected a data "
            "stream file"
            for name in ("device", "fifo")
        ]

    def test_a_file_that_shrinks_while_it_is_read(self, damaged):
        """An error with its place, no signal."""
        opened = vestige.open(damaged, debug_info=False)
        os.truncate(damaged / "stream", 3 * packet_size(damaged))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TraceDamageWarning)
            seen = [event["value"] for event in opened]

        assert seen == list(range(3 * EVENTS))
        assert [damage.kind for damage in opened.damage] == ["read-failed"]


class TestRepair:
    """The verb itself."""

    @pytest.mark.parametrize("inside", [False, True])
    def test_an_output_that_exists_is_refused(self, damaged, tmp_path, inside):
        """So is one inside of the trace."""
        output = damaged / "new" if inside else tmp_path
        result = run("repair", damaged, output)

        assert result.returncode == 2
        assert not (damaged / "new").exists()

    def test_the_tree_is_kept_without_the_index(self, tmp_path):
        """Of several traces below a directory."""
        shutil.copytree(DATA / "fields", tmp_path / "in")
        assert run("repair", tmp_path / "in", tmp_path / "out").returncode == 0
        kept = {
            path.relative_to(tmp_path / "in")
            for path in (tmp_path / "in").rglob("*")
            if path.is_file() and path.suffix != ".idx"
        }
        written = {
            path.relative_to(tmp_path / "out")
            for path in (tmp_path / "out").rglob("*")
            if path.is_file()
        }

        assert written == kept
        for path in written:
            assert (tmp_path / "out" / path).read_bytes() == (
                tmp_path / "in" / path
            ).read_bytes()


def spoil_at_random(data: bytearray, seed: int) -> None:
    """Damage bytes in one of six ways."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    at = chance.randrange(len(data))
    size = chance.choice([8, 200, 5000])
    match chance.randrange(6):
        case 0:
            del data[at:]
        case 1:
            for _ in range(chance.randrange(1, 5)):
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        case 2:
            data[at : at + size] = bytes(len(data[at : at + size]))
        case 3:
            data[at:at] = chance.randbytes(size)
        case 4:
            data += chance.randbytes(size)
        case _:
            del data[at : at + size]


@pytest.mark.parametrize("seed", range(50))
def test_any_damage_of_a_recording_can_be_repaired(tmp_path, seed):
    """The repaired copy is sound and has the events that the damaged one gives."""
    name = ["lost", "hello", "reload", "threads-pid"][seed % 4]
    trace = Path(shutil.copytree(DATA / name, tmp_path / "trace"))
    files = sorted(
        path
        for path in trace.rglob("*")
        if path.is_file() and path.name != "metadata" and path.suffix != ".idx"
    )
    files = [path for path in files if path.stat().st_size]
    victim = random.Random(seed).choice(files)  # noqa: S311 - no secret
    data = bytearray(victim.read_bytes())
    spoil_at_random(data, seed)
    victim.write_bytes(data)

    def contents(directory: Path) -> list[tuple[object, ...]]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TraceDamageWarning)
            opened = vestige.open(directory, debug_info=False)
            return [
                (event.timestamp, event.name, event.payload.to_dict())
                for event in opened
            ]

    assert main(["repair", str(trace), str(tmp_path / "out")]) == main(
        ["check", str(trace)]
    )
    assert main(["check", str(tmp_path / "out")]) == 0
    assert contents(tmp_path / "out") == contents(trace)


def test_repair_writes_nothing_into_its_input(tmp_path, capfd):
    """Not into a trace, and not beside one below the directory that is repaired."""
    root = shutil.copytree(DATA / "lost", tmp_path / "in")

    assert main(["repair", str(root), str(root / "out")]) == 2
    assert "the output lies in the input" in capfd.readouterr().err
    assert not (root / "out").exists()


def test_a_repair_that_keeps_nothing_fails(tmp_path, capfd):
    """What it wrote is a trace without events, which nobody wanted."""
    trace = Trace(streams={"s": [Packet(numbered(1))]})
    root = trace.write(tmp_path / "in")
    (root / "s").write_bytes(bytes(4096))

    assert main(["repair", str(root), str(tmp_path / "out")]) == 3
    assert "nothing to keep" in capfd.readouterr().out
