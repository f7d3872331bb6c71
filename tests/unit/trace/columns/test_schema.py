"""Which columns there are, their names and types, and choosing among them."""

from __future__ import annotations

import struct

import polars as pl
import pyarrow as pa
import pytest

import vestige
from support.column_rows import RECORDINGS, both, same, table
from support.ctf_writer import Event, Packet, Trace, metadata_head, numbered
from support.recordings import DATA
from vestige import SelectionError


class TestSchema:
    """Names and types, known before anything is read."""

    @pytest.mark.parametrize("name", RECORDINGS)
    def test_it_is_that_of_the_stream(self, name):
        """Both capsules agree."""
        columns = vestige.open(DATA / name).to_arrow()

        assert pa.schema(columns) == pa.table(columns).schema
        assert pa.schema(columns).names == columns.names

    def test_what_every_event_has_cannot_be_null(self):
        """What only some have can."""
        schema = pa.schema(vestige.open(DATA / "fields").to_arrow())

        assert not schema.field("vpid").nullable
        assert not schema.field("timestamp").nullable
        assert schema.field("u64").nullable
        one = vestige.open(DATA / "fields").events("fields:integers")
        assert not pa.schema(one.to_arrow()).field("u64").nullable

    def metadata(self, *, context="", specific="", events=()):
        """Return metadata with contexts."""
        text = metadata_head(context=context)
        for number, fields in enumerate(events):
            text += (
                f"event {{ id = {number}; stream_id = 0; name = e{number};"
                f"context := struct {{ {specific} }};"
                f"fields := struct {{ {fields} }}; }};\n"
            )
        return text

    def names(self, directory, columns=None, **metadata):
        """Return the names of the columns of metadata, which have a packet each."""
        trace = Trace(streams={"s": [Packet()]}).write(directory)
        (trace / "metadata").write_text(self.metadata(**metadata))
        return vestige.open(trace).to_arrow(columns).names

    def test_the_payload_has_its_names_and_contexts_give_way(self, tmp_path):
        """A field that gives way is named after its scope."""
        names = self.names(
            tmp_path,
            context="uint8_t a; uint8_t b; uint8_t c;",
            specific="uint8_t a; uint8_t b;",
            events=["uint8_t a; uint8_t timestamp;", "uint8_t _event;"],
        )

        assert names == [
            "timestamp",
            "event",
            "stream_id",
            "context.a",
            "context.b",
            "c",
            "specific_context.a",
            "b",
            "a",
            "payload.timestamp",
            "payload.event",
        ]

    def test_the_name_with_its_scope_always_works(self, tmp_path):
        """And is the name of the column then."""
        wanted = ["payload.a", "context.c", "event"]
        found = self.names(
            tmp_path, wanted, context="uint8_t c;", events=["uint8_t a;"]
        )

        assert found == wanted

    def test_types_that_differ_are_widened_or_kept_apart(self, tmp_path):
        """Deterministically: the first has the name, others a suffix for their type."""
        events = [
            "uint8_t x; uint32_t y; uint64_t z; uint8_t l[2];",
            "uint32_t x; int32_t y; int32_t z; uint16_t l[2];",
            "uint8_t x; string y; string z; string l;",
        ]
        trace = Trace(events, streams={"s": [Packet()]}).write(tmp_path)
        schema = pa.schema(vestige.open(trace).to_arrow())

        assert schema.field("x").type == pa.uint32()
        assert schema.field("y").type == pa.int64()
        assert schema.field("y_string").type == pa.string()
        assert schema.field("z").type == pa.uint64()
        assert schema.field("z_int32").type == pa.int32()
        assert schema.field("z_string").type == pa.string()
        assert schema.field("l").type == pa.list_(pa.uint16())
        assert schema.field("l_string").type == pa.string()

    def test_widened_values(self, tmp_path):
        """A signed and an unsigned number of 32 bits share a column of 64."""
        events = [
            Event(1, struct.pack("<I", 2**32 - 1), id=0),
            Event(2, struct.pack("<i", -1), id=1),
            Event(3, b"text\0", id=2),
        ]
        trace = Trace(
            ["uint32_t v;", "int32_t v;", "string v;"], streams={"s": [Packet(events)]}
        )
        made = table(vestige.open(trace.write(tmp_path)), ["v", "v_string"])

        assert made.to_pylist() == [
            {"v": 2**32 - 1, "v_string": None},
            {"v": -1, "v_string": None},
            {"v": None, "v_string": "text"},
        ]

    def test_two_members_of_one_name(self, tmp_path):
        """The underscore that tells them apart is not shown."""
        trace = Trace(["uint8_t x; uint8_t _x;"], streams={"s": [Packet()]})
        columns = vestige.open(trace.write(tmp_path)).to_arrow()

        assert columns.names[-2:] == ["x", "x_2"]

    def test_several_traces_have_a_column_that_tells_them_apart(self):
        """With their names."""
        trace = vestige.open([DATA / "hello", DATA / "threads-pid"])
        made = table(trace)

        assert made.schema.names[:4] == ["timestamp", "trace", "event", "stream_id"]
        assert made["trace"].to_pylist() == [event.stream.trace.name for event in trace]
        assert "trace" not in vestige.open(DATA / "hello").to_arrow().names

    def test_times(self, tmp_path):
        """A clock without an offset does not count from the epoch."""
        trace = Trace(streams={"s": [Packet(numbered(2))]}).write(tmp_path)
        selection = vestige.open(trace)

        assert pa.schema(selection.to_arrow()).field(0).type == pa.duration("ns")
        for times, kind in [
            ("timestamp", pa.timestamp("ns", "UTC")),
            ("duration", pa.duration("ns")),
            ("integer", pa.int64()),
        ]:
            column = table(selection, times=times)["timestamp"]
            assert column.type == kind
            assert column.cast(pa.int64()).to_pylist() == [1_000_000, 1_001_000]
        recorded = pa.schema(vestige.open(DATA / "hello").to_arrow())
        assert recorded.field(0).type == pa.timestamp("ns", "UTC")


class TestProjection:
    """Only some columns."""

    @pytest.mark.parametrize("name", RECORDINGS)
    def test_each_column_alone_is_that_of_all(self, name):
        """Whatever is stepped over before and behind it."""
        trace = vestige.open(DATA / name)
        whole = table(trace)
        for column in whole.schema.names:
            alone = table(trace, [column])
            assert alone.schema.names == [column]
            assert same(alone[column].to_pylist(), whole[column].to_pylist())

    def test_the_order_is_that_of_the_wish(self):
        """And a column that is wished twice is there once."""
        trace = vestige.open(DATA / "hello")

        assert trace.to_arrow(["text", "event", "text"]).names == ["text", "event"]
        assert table(trace, ["text", "event"]).to_pylist()[0] == {
            "text": "good morning",
            "event": "greeting:said",
        }

    def test_no_column_at_all(self):
        """The number of rows is left."""
        assert vestige.open(DATA / "hello").to_arrow([]).drain() == 4

    def test_an_unknown_column(self):
        """The error names what is meant."""
        with pytest.raises(
            SelectionError, match="no column 'txt' here; there are text"
        ):
            vestige.open(DATA / "hello").to_arrow(["txt"])

    def test_an_unknown_option(self):
        """As with any function."""
        with pytest.raises(TypeError, match="tims"):
            vestige.open(DATA / "hello").to_arrow(tims="integer")


class TestSelections:
    """Patterns and times."""

    def test_a_pattern_has_the_columns_of_its_events(self):
        """Others are not there."""
        trace = vestige.open(DATA / "fields", debug_info=False)
        selection = trace.events("fields:str*")

        assert "u64" not in selection.to_arrow().names
        assert same(*both(selection))
        assert table(selection).num_rows == 10

    def test_times(self):
        """A slice holds what it holds for events."""
        trace = vestige.open(DATA / "lost", debug_info=False)
        middle = list(trace)[200].timestamp
        before, after = table(trace[:middle]), table(trace[middle:])

        assert pa.concat_tables([before, after]).to_pylist() == table(trace).to_pylist()
        assert after.num_rows == 200

    @pytest.mark.parametrize("pattern", ["nothing", "fields:integers"])
    @pytest.mark.filterwarnings("ignore:no event matches")
    def test_empty_selections(self, pattern):
        """They have a schema and no rows."""
        trace = vestige.open(DATA / "fields").events(pattern)[:1]

        assert table(trace).num_rows == 0
        assert table(trace).schema.names[:2] == ["timestamp", "event"]
        assert pl.DataFrame(trace.to_arrow()).height == 0

    @pytest.mark.parametrize("size", [1, 7, 100_000])
    def test_batches_have_at_most_so_many_rows(self, size):
        """The values do not depend on it."""
        trace = vestige.open(DATA / "lost")
        batches = pa.table(trace.to_arrow(batch_size=size)).to_batches()

        assert max(len(batch) for batch in batches) == min(size, 400)
        assert pa.Table.from_batches(batches).to_pylist() == table(trace).to_pylist()
