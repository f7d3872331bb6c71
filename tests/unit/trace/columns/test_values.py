"""Event records as columns: the same values as the events have."""

from __future__ import annotations

import math
import struct
from itertools import pairwise

import pyarrow as pa
import pytest

import vestige
from support.column_rows import RECORDINGS, both, plain, rows, same, table
from support.ctf_writer import (
    BitWriter,
    Event,
    Packet,
    Trace,
    numbered,
)
from support.recordings import DATA, RELOAD_DEBUG_INFO, copy_trace, open_demo


class TestValues:
    """The values of the events."""

    @pytest.mark.parametrize("name", RECORDINGS)
    def test_those_of_recordings(self, name):
        """Every field class that LTTng-UST writes, and every event."""
        trace = vestige.open(DATA / name, debug_info=False)
        wanted, found = both(trace)

        assert len(found) == len(wanted) > 0
        differences = [
            pair for pair in zip(wanted, found, strict=True) if not same(*pair)
        ]
        assert differences == []

    @pytest.mark.parametrize("order", ["le", "be"])
    @pytest.mark.parametrize("start", [0, 1, 3])
    def test_integers_of_all_sizes_at_odd_offsets(self, tmp_path, order, start):
        """Each goes into the smallest type that holds it, with its sign."""
        sizes = [1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64]
        members = [f"integer {{ size = {start or 8}; align = 1; }} first;"]
        members += [
            f"integer {{ size = {size}; align = 1; signed = {sign}; }} f{size}_{sign};"
            for size in sizes
            for sign in ("true", "false")
        ]

        def write(writer):
            writer.integer(1, start or 8, align=1)
            for size in sizes:
                writer.integer(-(1 << (size - 1)), size, align=1)
                writer.integer((1 << size) - 1, size, align=1)

        events = [Event(1000 + number, write) for number in range(3)]
        trace = vestige.open(
            Trace(
                [" ".join(members)], order=order, streams={"s": [Packet(events)]}
            ).write(tmp_path)
        )
        made = table(trace)

        assert plain(made)[0]["f7_true"] == -64
        assert made.schema.field("f33_false").type == pa.uint64()
        assert made.schema.field("f9_true").type == pa.int16()
        assert made.schema.field("f1_false").type == pa.uint8()
        assert same(*both(trace))
        assert len(plain(made)) == 3

    def test_nested_types(self, tmp_path):
        """Structures in arrays in structures, sequences of strings, variants."""
        members = """
            enum : uint8_t { NUMBER = 0, TEXT = 1, PAIR = 2 } kind;
            uint16_t count;
            struct {
                uint8_t n;
                struct { int32_t x; string words[2]; uint8_t inner[n]; } items[count];
            } outer;
            variant <kind> { uint64_t NUMBER; string TEXT; struct { uint8_t a; } PAIR; } v;
            uint32_t grid[2][3];
            uint8_t end;
        """

        def write(kind, count):
            def body(writer):
                writer.integer(kind, 8).integer(count, 16).integer(2, 8)
                for item in range(count):
                    writer.integer(-item, 32).string("a").string("ü" * item)
                    writer.integer(item, 8).integer(255, 8)
                match kind:
                    case 0:
                        writer.integer(1 << 63, 64)
                    case 1:
                        writer.string("text")
                    case 2:
                        writer.integer(7, 8)
                for number in range(6):
                    writer.integer(number, 32)
                writer.integer(99, 8)

            return body

        events = [
            Event(10 * number, write(number % 3, number % 4)) for number in range(12)
        ]
        trace = vestige.open(
            Trace([members], streams={"s": [Packet(events)]}).write(tmp_path)
        )
        made = table(trace)
        found = made.to_pylist()

        assert made.schema.field("v").type == pa.struct(
            [
                ("NUMBER", pa.uint64()),
                ("TEXT", pa.string()),
                ("PAIR", pa.struct([("a", pa.uint8())])),
            ]
        )
        assert found[0]["v"] == {"NUMBER": 1 << 63, "TEXT": None, "PAIR": None}
        assert found[5]["v"] == {"NUMBER": None, "TEXT": None, "PAIR": {"a": 7}}
        assert found[3]["outer"]["items"][2]["words"] == ["a", "üü"]
        assert found[0]["grid"] == [[0, 1, 2], [3, 4, 5]]
        wanted, inner = rows(trace), table(trace, ["payload.outer", "payload.v"])
        assert inner.to_pylist() == [
            {name: row[name] for name in ("payload.outer", "payload.v")}
            for row in wanted
        ]

    def test_floats(self, tmp_path):
        """Both sizes, with the numbers that are none."""
        numbers = [0.0, -0.0, 1.5, math.inf, -math.inf, math.nan, 1e-40, 1e300]
        fields = (
            "floating_point { exp_dig = 8; mant_dig = 24; align = 8; } small; "
            "floating_point { exp_dig = 11; mant_dig = 53; align = 8; } large;"
        )

        def write(number):
            small = math.inf if number == 1e300 else number
            return lambda writer: writer.float(small, 32).float(number, 64)

        events = [Event(index, write(number)) for index, number in enumerate(numbers)]
        trace = vestige.open(
            Trace([fields], streams={"s": [Packet(events)]}).write(tmp_path)
        )
        made = table(trace)

        assert made.schema.field("small").type == pa.float32()
        assert made.schema.field("large").type == pa.float64()
        assert same(made["large"].to_pylist(), numbers)
        assert same(*both(trace))

    def test_text_that_is_no_utf8(self, tmp_path):
        """What cannot be text is replaced; the rest of the string stays."""
        events = [Event(1, lambda writer: writer.string(b"a\xffb"))]
        trace = vestige.open(
            Trace(["string text;"], streams={"s": [Packet(events)]}).write(tmp_path)
        )

        assert table(trace)["text"].to_pylist() == ["a\ufffdb"]
        assert table(trace, strings="dictionary")["text"].to_pylist() == ["a\ufffdb"]


class TestEnumerations:
    """Labels as dictionaries."""

    FIELDS = (
        "enum : int32_t { LOW = -5 ... -1, ZERO = 0, FEW = 1 ... 3, FEW = 10, "
        "MANY = 2 ... 1000 } size;"
    )
    VALUES = [-6, -5, 0, 1, 2, 4, 10, 11, 1000, 1001, 2**31 - 1, -6]
    LABELS = [
        "-6",
        "LOW",
        "ZERO",
        "FEW",
        "FEW",
        "MANY",
        "FEW",
        "MANY",
        "MANY",
        "1001",
        "2147483647",
        "-6",
    ]

    def open(self, directory, values=VALUES, packets=1):
        """Write a trace of enumerations; return it opened."""
        events = [
            Event(number, struct.pack("<i", value))
            for number, value in enumerate(values)
        ]
        size = -(-len(events) // packets)
        parts = [events[start : start + size] for start in range(0, len(events), size)]
        streams = {"s": [Packet(part) for part in parts]}
        return vestige.open(Trace([self.FIELDS], streams=streams).write(directory))

    def test_the_first_label_that_fits_else_the_number(self, tmp_path):
        """As the events have it; a number without a label is not lost."""
        column = table(self.open(tmp_path))["size"]

        assert column.type == pa.dictionary(pa.int32(), pa.string())
        assert column.to_pylist() == self.LABELS

    def test_numbers_on_request(self, tmp_path):
        """The exact value of each."""
        column = table(self.open(tmp_path), enumerations="values")["size"]

        assert column.type == pa.int32()
        assert column.to_pylist() == self.VALUES

    def test_an_index_means_the_same_in_all_batches(self, tmp_path):
        """Dictionaries only grow, so that they can be written one after the other."""
        values = [self.VALUES[(7 * number) % 10] + number % 3 for number in range(90)]
        trace = self.open(tmp_path, values, packets=9)
        batches = pa.table(trace.to_arrow(batch_size=10)).to_batches()
        dictionaries = [batch["size"].dictionary.to_pylist() for batch in batches]

        assert len(batches) == 9
        for before, after in pairwise(dictionaries):
            assert after[: len(before)] == before
        assert dictionaries[0][:4] == ["LOW", "ZERO", "FEW", "MANY"]
        whole = [label for batch in batches for label in batch["size"].to_pylist()]
        assert whole == [
            event["size"].label or str(int(event["size"])) for event in trace
        ]

    def test_a_dictionary_does_not_grow_without_a_limit(self, tmp_path):
        """A new one is begun, and no value changes."""
        values = [2000 + number for number in range(150_000)]
        trace = self.open(tmp_path, values, packets=15)
        made = table(trace, ["size"])

        assert made["size"].to_pylist() == [str(value) for value in values]
        sizes = [len(chunk.dictionary) for chunk in made["size"].chunks]
        assert max(sizes) < 110_000


class TestStrings:
    """Plain, or encoded with a dictionary."""

    @pytest.mark.parametrize("name", RECORDINGS)
    def test_both_have_the_same_values(self, name):
        """Also inside of structures and lists."""
        trace = vestige.open(DATA / name, debug_info=False)
        encoded, whole = table(trace, strings="dictionary"), table(trace)
        texts = [field.name for field in whole.schema if pa.types.is_string(field.type)]

        assert same(encoded.to_pylist(), whole.to_pylist())
        assert all(
            pa.types.is_dictionary(encoded.schema.field(text).type) for text in texts
        )
        assert texts or name in {"lost", "threads-pid"}


class TestDebugInfo:
    """Source places as a column."""

    @pytest.mark.parametrize("opened", ["demo", "reload"])
    def test_it_is_that_of_the_events(self, opened):
        """Three dictionaries; null where an event has no address."""
        trace = (
            open_demo()
            if opened == "demo"
            else vestige.open(DATA / "reload", debug_info=RELOAD_DEBUG_INFO)
        )
        made = table(trace)
        kind = made.schema.field("debug_info").type
        lines = {}
        for event, found in zip(trace, made["debug_info"].to_pylist(), strict=True):
            place = event.debug_info
            if not isinstance(place, vestige.Place):
                continue
            if place.file and place.line:
                lines[found["src"]] = f"{place.file}:{place.line}"
            assert (found["func"] or "").startswith(place.function or "")

        assert [kind.field(i).name for i in range(3)] == ["bin", "func", "src"]
        assert all(pa.types.is_dictionary(kind.field(i).type) for i in range(3))
        assert len(lines) >= 2
        assert all(
            source.endswith(line.rpartition("/")[2]) for source, line in lines.items()
        )

    def test_it_is_right_where_the_state_dump_is_not_selected(self):
        """As for events."""
        whole = table(open_demo())
        mask = [name.startswith("shop:") for name in whole["event"].to_pylist()]
        chosen = table(open_demo().events("shop:*"), ["debug_info"])

        assert (
            chosen["debug_info"].to_pylist()
            == whole.filter(pa.array(mask))["debug_info"].to_pylist()
        )
        assert {row["src"] for row in chosen["debug_info"].to_pylist()} == {
            "shop.c:79",
            "shop.c:63",
            "shop.c:52",
        }

    def test_without_addresses_or_without_wish_there_is_no_column(self, tmp_path):
        """The schema says so."""
        trace = Trace(streams={"s": [Packet(numbered(1))]}).write(tmp_path)

        assert "debug_info" not in vestige.open(trace).to_arrow().names
        reload = vestige.open(DATA / "reload", debug_info=False)
        assert "debug_info" not in reload.to_arrow().names


def test_a_record_that_cannot_be_decoded_ends_the_stream(tmp_path):
    """Its error is ours, and the rows before it are given."""
    fields = "uint32_t n; struct { } empty[n]; uint8_t end;"
    good = BitWriter().integer(3, 32).integer(1, 8).getvalue()
    events = [Event(number, good) for number in range(3)]
    trace = vestige.open(
        Trace([fields], streams={"s": [Packet(events)]}).write(tmp_path)
    )

    assert table(trace)["empty"].to_pylist() == [[{}] * 3] * 3


def test_copies_of_recordings_have_the_same_columns(tmp_path):
    """Nothing depends on where a trace is."""
    copied = vestige.open(copy_trace("hello", tmp_path / "copy"))

    assert table(copied).to_pylist() == table(vestige.open(DATA / "hello")).to_pylist()
