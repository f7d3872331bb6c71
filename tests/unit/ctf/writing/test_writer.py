"""Writing traces: what is declared, written, flushed, closed, and what is refused."""

from __future__ import annotations

import enum
import errno
import gc
import os
import signal
import subprocess
import sys
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

import vestige
from vestige import ctf
from vestige.ctf import Writer
from vestige.errors import (
    DeclarationError,
    FieldValueError,
    StorageError,
    TimestampError,
    UnknownFieldError,
    WriterClosedError,
)

VERSIONS = pytest.mark.parametrize("version", ["1.8", "2"])
REQUEST = {"path": str, "status": "u16"}


def read(directory):
    """Return time, name and payload of all event records."""
    return [
        (event.timestamp, event.name, event.payload.to_dict())
        for event in vestige.open(directory, strict=True)
    ]


def packets(directory):
    """Return the packet contexts of the only data stream, of each packet one."""
    seen = {
        event.packet_context["packet_seq_num"]: event.packet_context
        for event in vestige.open(directory, strict=True)
    }
    return list(seen.values())


@VERSIONS
def test_events_of_several_streams_are_read_in_order_of_time(tmp_path, version):
    """The example of the documentation."""
    with Writer(tmp_path / "out", version=version) as writer:
        first, second = writer.stream("cpu0"), writer.stream("cpu1")
        request = writer.event_class("app:request", REQUEST)
        first.write(request, 10, path="/", status=200)
        second.write(request, 5, path="/none", status=404)
        first.write(request, 20, path="/end", status=200)

    assert read(tmp_path / "out") == [
        (5, "app:request", {"path": "/none", "status": 404}),
        (10, "app:request", {"path": "/", "status": 200}),
        (20, "app:request", {"path": "/end", "status": 200}),
    ]


@VERSIONS
def test_facts_of_the_trace_are_in_its_metadata(tmp_path, version):
    """UUID, environment, clock, log level, contexts."""
    identity = uuid.UUID(int=77)
    clock = ctf.ClockClass("ticks", 1000, 3, 500, description="of a wall")
    environment = {"hostname": 'a "b" \\ c', "pid": -4}
    with Writer(
        tmp_path / "out",
        version=version,
        uuid=identity,
        clock=clock,
        environment=environment,
        packet_context={"cpu_id": "u32"},
        event_context={"vpid": "s32"},
    ) as writer:
        event = writer.event_class(
            "one",
            {"n": "x64"},
            context={"depth": "u8"},
            log_level=13,
            emf_uri="http://x",
        )
        stream = writer.stream("cpu0", cpu_id=3)
        stream.write(event, 250, {"vpid": 7, "depth": 2}, n=255)

    [found] = vestige.open(tmp_path / "out")
    assert found.timestamp == 3_750_000_000
    assert found.log_level == 13
    assert found.context.to_dict() == {"vpid": 7}
    assert found.specific_context.to_dict() == {"depth": 2}
    assert found.packet_context["cpu_id"] == 3
    assert found.stream.trace.trace_class.uuid == identity
    assert found.stream.trace.trace_class.environment == environment
    [read_clock] = found.stream.trace.trace_class.clocks
    assert (read_clock.name, read_clock.frequency) == ("ticks", 1000)
    assert (read_clock.offset_seconds, read_clock.offset_cycles) == (3, 500)


@VERSIONS
def test_event_classes_may_come_at_any_time(tmp_path, version):
    """Those that came before stay as they were."""
    with Writer(tmp_path / "out", version=version) as writer:
        stream = writer.stream("cpu0")
        for number in range(20):
            event = writer.event_class(f"event {number}", {f"f{number}": int})
            stream.write(event, number, **{f"f{number}": -number})
            stream.flush()

    assert read(tmp_path / "out") == [
        (number, f"event {number}", {f"f{number}": -number}) for number in range(20)
    ]


@VERSIONS
def test_stream_classes_have_clocks_and_contexts_of_their_own(tmp_path, version):
    """Their event classes are numbered apart."""
    fast = ctf.ClockClass("fast", 2_000_000_000, 0, 0, absolute=True)
    with Writer(tmp_path / "out", version=version) as writer:
        other = writer.stream_class(clock=fast, event_context={"who": str})
        one = writer.event_class("one", {"a": "u8"})
        two = other.event_class("two", {"b": "u8"})
        writer.stream("first").write(one, 10, a=1)
        other.stream("second").write(two, 10, {"who": "me"}, b=2)

    assert read(tmp_path / "out") == [(5, "two", {"b": 2}), (10, "one", {"a": 1})]


def test_a_class_of_another_stream_class_is_refused(tmp_path):
    """Its records would be read as those of a class of this one."""
    with Writer(tmp_path / "out") as writer:
        other = writer.stream_class().event_class("two", {"b": "u8"})
        with pytest.raises(DeclarationError, match=r"two: the class is not one of"):
            writer.stream("first").write(other, 1, b=2)


@VERSIONS
def test_packets_end_before_they_are_too_long(tmp_path, version):
    """Each tells where it begins and ends, and its number."""
    with Writer(tmp_path / "out", version=version, packet_size=200) as writer:
        stream = writer.stream("cpu0")
        event = writer.event_class("one", {"text": str})
        for number in range(10):
            stream.write(event, number * 10, text="x" * 30)
        stream.write(event, 200, text="y" * 1000)
        stream.write(event, 300, text="z")

    found = packets(tmp_path / "out")
    assert [one["packet_seq_num"] for one in found] == list(range(len(found)))
    sizes = [one["packet_size"] // 8 for one in found]
    assert max(sizes[:-2]) <= 200
    assert sizes[-2] > 1000
    assert sum(sizes) == (tmp_path / "out" / "cpu0").stat().st_size
    assert len(read(tmp_path / "out")) == 12


@VERSIONS
def test_the_packet_context_can_change(tmp_path, version):
    """The packet before keeps its values."""
    with Writer(
        tmp_path / "out", version=version, packet_context={"name": str, "cpu": "u8"}
    ) as writer:
        stream = writer.stream("cpu0", name="first", cpu=1)
        event = writer.event_class("one")
        stream.write(event, 1)
        stream.set_packet_context(name="the second", cpu=2)
        stream.write(event, 2)
        with pytest.raises(FieldValueError, match=r"cpu: 300 is out of range"):
            stream.set_packet_context(name="third", cpu=300)
        stream.write(event, 3)

    assert [(one["name"], one["cpu"]) for one in packets(tmp_path / "out")] == [
        ("first", 1),
        ("the second", 2),
        ("the second", 2),
    ]


@VERSIONS
def test_discarded_event_records_are_told(tmp_path, version):
    """Between the packets between which they are."""
    with Writer(tmp_path / "out", version=version) as writer:
        stream = writer.stream("cpu0")
        event = writer.event_class("one")
        stream.write(event, 1)
        stream.flush()
        stream.discard(3)
        stream.write(event, 9)

    trace = vestige.open(tmp_path / "out")
    assert len(list(trace)) == 2
    [lost] = trace.losses
    assert lost.count == 3


class Colour(enum.Enum):
    """Of a light."""

    RED = 1
    GREEN = 2


@VERSIONS
def test_short_forms_of_declarations(tmp_path, version):
    """Types of Python, sizes, lists, dictionaries."""
    declared = {
        "integer": int,
        "real": float,
        "text": str,
        "truth": bool,
        "bytes": bytes,
        "hex": "x16be",
        "three": "u3",
        "colour": Colour,
        "texts": [str],
        "inner": {"a": "s8", "b": ["f32"]},
    }
    given = {
        "integer": -5,
        "real": 2.5,
        "text": "é",
        "truth": True,
        "bytes": b"ab",
        "hex": 0x1234,
        "three": 7,
        "colour": Colour.GREEN,
        "texts": ["a", ""],
        "inner": {"a": -1, "b": [0.5]},
    }
    with Writer(tmp_path / "out", version=version) as writer:
        writer.stream("cpu0").write(
            writer.event_class("one", declared), 1, None, **given
        )

    [(_, _, payload)] = read(tmp_path / "out")
    assert payload["colour"].labels == ("GREEN",)
    inner = {"a": -1, "_b_length": 1, "b": [0.5]}
    as_bytes = b"ab" if version == "2" else [97, 98]
    expected = {**given, "colour": 2, "inner": inner, "bytes": as_bytes}
    assert {name: payload[name] for name in declared} == expected


def test_a_length_of_ones_own_serves_several_arrays(tmp_path):
    """It is given as they are, or is taken from them."""
    members = {
        "count": "u8",
        "a": ctf.array("u8", "count"),
        "b": ctf.array("u16", "count"),
    }
    with Writer(tmp_path / "out") as writer:
        stream = writer.stream("cpu0")
        event = writer.event_class("one", members)
        stream.write(event, 1, a=[1, 2], b=[3, 4])
        stream.write(event, 2, count=1, a=[1], b=[3])
        with pytest.raises(FieldValueError, match="1 elements are given: expected 2"):
            stream.write(event, 3, a=[1, 2], b=[3])
        with pytest.raises(FieldValueError, match="2 elements are given: expected 1"):
            stream.write(event, 3, count=1, a=[1, 2], b=[3, 4])

    assert [payload["count"] for _, _, payload in read(tmp_path / "out")] == [2, 1]


BAD_VALUES = [
    ({"status": 70000}, "status", "70000 is out of range: expected 0 to 65535", 70000),
    ({"status": -1}, "status", "-1 is out of range: expected 0 to 65535", -1),
    ({"status": "x"}, "status", "expected an integer: 'x' is of type str", None),
    ({"status": 1.5}, "status", "expected an integer: 1.5 is of type float", None),
    ({"status": None}, "status", "expected an integer", None),
    ({"path": "a\0b"}, "path", "U+0000 at byte 1 would end the text", None),
    ({"path": 3}, "path", "expected a text: 3 is of type int", None),
    ({"list": [1, 300]}, "list[1]", "300 is out of range: expected 0 to 255", 300),
    ({"list": 5}, "list", "expected a sequence: 5 is of type int", None),
    ({"inner": {"real": "x"}}, "inner.real", "expected a number", None),
    ({"inner": {}}, "inner.real", "no value is given", None),
    ({"inner": 1}, "inner", "expected a dictionary: 1 is of type int", None),
    ({"small": 1e300}, "small", "is out of range for 32 bits", None),
    ({"choice": ("c", 1)}, "choice", "expected one of the options a, b", None),
    ({"choice": 1}, "choice", "expected an option: a tuple", None),
    ({"choice": ("a", 256)}, "choice.a", "256 is out of range", 256),
    ({"name": "x" * 9}, "name", "9 bytes are given: expected 8", None),
    ({"colour": "BLUE"}, "colour", "expected an integer or a label: 'BLUE'", None),
]


@VERSIONS
@pytest.mark.parametrize(("changed", "field", "message", "value"), BAD_VALUES)
def test_a_value_that_does_not_fit_is_refused(
    tmp_path, version, changed, field, message, value
):
    """Nothing of the record is written; those before and after it are."""
    good = {
        "path": "/",
        "status": 1,
        "list": [1],
        "inner": {"real": 1},
        "small": 1,
        "choice": ("a", 1),
        "name": "n",
        "colour": "RED",
    }
    declared = {
        "path": str,
        "status": "u16",
        "list": ["u8"],
        "inner": {"real": float},
        "small": "f32",
        "choice": ctf.variant({"a": "u8", "b": str}),
        "name": ctf.array("u8", 8, text=True),
        "colour": Colour,
    }
    with Writer(tmp_path / "out", version=version) as writer:
        stream = writer.stream("cpu0")
        event = writer.event_class("the event", declared)
        for before in (True, False):
            with pytest.raises(FieldValueError) as caught:
                stream.write(event, 1, **{**good, **changed})
            if before:
                stream.write(event, 1, **good)
        stream.write(event, 2, **good)

    assert caught.value.field == field
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"the event, {field}: ")
    assert caught.value.value == value
    assert caught.value.event_class == "the event"
    assert [time for time, _, _ in read(tmp_path / "out")] == [1, 2]


def test_unknown_and_missing_names_are_told(tmp_path):
    """In payload and contexts."""
    with Writer(tmp_path / "out", event_context={"pid": int}) as writer:
        stream = writer.stream("cpu0")
        event = writer.event_class("one", REQUEST)
        with pytest.raises(UnknownFieldError) as caught:
            stream.write(event, 1, {"pid": 1}, path="", status=1, pth=2, more=3)
        assert caught.value.fields == ("pth", "more")
        with pytest.raises(UnknownFieldError, match="there is no field tid"):
            stream.write(event, 1, {"pid": 1, "tid": 1}, path="", status=1)
        with pytest.raises(FieldValueError, match="pid: no value is given"):
            stream.write(event, 1, path="", status=1)
        with pytest.raises(FieldValueError, match="status: no value is given"):
            stream.write(event, 1, {"pid": 1}, path="")
    assert read(tmp_path / "out") == []


def test_time_does_not_go_back(tmp_path):
    """The same time again is fine; so is any that is not past what readers show."""
    with Writer(tmp_path / "out") as writer:
        stream = writer.stream("cpu0")
        event = writer.event_class("one")
        stream.write(event, 100)
        stream.write(event, 100)
        with pytest.raises(TimestampError, match="99 is before the last one") as caught:
            stream.write(event, 99)
        assert (caught.value.timestamp, caught.value.limit) == (99, 100)
        for wrong in (1 << 63, -1, 1 << 64, 1.5, None):
            with pytest.raises(TimestampError):
                stream.write(event, wrong)
        stream.write(event, (1 << 63) - 1)
        assert stream.last_timestamp == (1 << 63) - 1
    assert len(read(tmp_path / "out")) == 3


def test_nothing_is_written_to_what_is_closed(tmp_path):
    """Closing again does nothing."""
    writer = Writer(tmp_path / "out")
    stream = writer.stream("cpu0")
    event = writer.event_class("one")
    stream.write(event, 1)
    writer.close()
    writer.close()
    stream.close()

    assert writer.is_closed
    with pytest.raises(WriterClosedError, match="the data stream is closed"):
        stream.write(event, 2)
    with pytest.raises(WriterClosedError, match="cpu0: the data stream is closed"):
        stream.write_many(event, [2], {})
    with pytest.raises(WriterClosedError):
        stream.flush()
    with pytest.raises(WriterClosedError, match="the writer is closed"):
        writer.event_class("two")
    with pytest.raises(WriterClosedError):
        writer.stream("cpu1")
    with pytest.raises(WriterClosedError):
        writer.flush()
    assert len(read(tmp_path / "out")) == 1


def test_an_error_in_the_block_leaves_what_was_written(tmp_path):
    """As the end of the block does."""

    def fail():
        with Writer(tmp_path / "out") as writer:
            writer.stream("cpu0").write(writer.event_class("one"), 1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert len(read(tmp_path / "out")) == 1


def test_a_directory_with_a_trace_is_refused(tmp_path):
    """What is there stays."""
    with Writer(tmp_path / "out") as writer:
        writer.stream("cpu0").write(writer.event_class("one"), 1)
    with pytest.raises(StorageError, match="File exists") as caught:
        Writer(tmp_path / "out")
    assert caught.value.errno == errno.EEXIST
    assert len(read(tmp_path / "out")) == 1


def test_names_of_data_stream_files(tmp_path):
    """They are names of files, each once, and none that readers pass over."""
    with Writer(tmp_path / "out") as writer:
        writer.stream("cpu0")
        for name in ("", ".hidden", "a/b", "a\0", "metadata"):
            with pytest.raises(DeclarationError):
                writer.stream(name)
        with pytest.raises(StorageError, match="File exists"):
            writer.stream("cpu0")


BAD_CLASSES = [
    ("1.8", {"a b": "u8"}, "a b: expected a name of letters"),
    ("1.8", {"a": "u65"}, "a: an integer of 65 bits"),
    ("1.8", {"a": ctf.bit_array(3)}, "a: CTF 1.8 has no field class BitArray"),
    ("1.8", {"a": ctf.optional("u8")}, "a: CTF 1.8 has no field class Optional"),
    ("1.8", {"a": ctf.variant({"int": "u8"})}, "int: expected the name of an option"),
    ("2", {"a": "f16"}, "a: a floating point number of 16 bits"),
    ("2", {"": "u8"}, "a name is empty"),
    ("2", {"a": "q8"}, "a: 'q8' is no field class"),
    ("2", {"a": {"b": list}}, "a.b: list is no field class"),
    ("2", {"a": [["u8"]]}, "an element with a length or a selector of its own"),
    ("2", {"a": ctf.array("u8", "n")}, "n: no member of this name stands before"),
    ("1.8", {"a": ctf.array("u8", "n")}, "'_n'"),
    ("2", {"a": ctf.array("u8", -1)}, "a: expected a length of 0 or more"),
    ("2", {"a": ctf.array("u16", 4, text=True)}, "a: a text in an array has elements"),
    ("1.8", {"a": ctf.enumeration(8, {})}, "a: an enumeration without a label"),
    (
        "1.8",
        {"a": ctf.enumeration(8, {"x": 256})},
        "a: the label 'x' has values from 256",
    ),
    ("2", {"a": ctf.integer(8, base=3)}, "a: expected a base"),
    ("2", {"a": ctf.string(encoding="latin-1")}, "a: expected one of utf-16be"),
    ("2", {"a": ctf.integer(8, alignment=3)}, "a: expected an alignment"),
    ("2", {"a": ctf.variant({})}, "a: a variant without an option"),
    ("2", {"_a_length": "u8", "a": ["u8"]}, "a second member of this name"),
    ("2", {"a": "u0"}, "a: 'u0' is no field class"),
    ("2", {"\ud800": "u8"}, "a name that UTF-8 cannot hold"),
]


@pytest.mark.parametrize(("version", "fields", "message"), BAD_CLASSES)
def test_classes_that_the_format_does_not_have(tmp_path, version, fields, message):
    """Nothing of them is in the metadata."""
    with Writer(tmp_path / "out", version=version) as writer:
        with pytest.raises(DeclarationError) as caught:
            writer.event_class("bad", fields)
        assert message in str(caught.value)
        writer.stream("cpu0").write(writer.event_class("good"), 1)
    assert read(tmp_path / "out") == [(1, "good", {})]


@VERSIONS
def test_classes_of_a_trace_that_was_read_can_be_written(tmp_path, version):
    """Lengths and selectors are found by the names that readers show."""
    declared = {
        "list": ["u16"],
        "choice": ctf.variant({"a": "u8", "b": str}),
        "inner": {"n": "u8", "texts": ctf.array(str, "n")},
        "real": "f32be",
        "colour": ctf.enumeration(16, {"red": 1}, byte_order="big"),
    }
    given = {
        "real": 0.5,
        "colour": "red",
        "list": [1, 2],
        "choice": ("b", "x"),
        "inner": {"n": 1, "texts": ["y"]},
    }
    if version == "2":
        declared |= {"data": bytes, "maybe": ctf.optional("s8")}
        given |= {"data": b"ab", "maybe": -4}
    with Writer(tmp_path / "first", version=version) as writer:
        event = writer.event_class("one", declared)
        writer.stream("cpu0").write(event, 1, **given)
    [found] = vestige.open(tmp_path / "first")
    [event_class] = found.stream.stream_class.event_classes
    with Writer(tmp_path / "second", version=version) as writer:
        event = writer.event_class("one", event_class.payload)
        writer.stream("cpu0").write(event, 1, **given)

    assert read(tmp_path / "second") == read(tmp_path / "first")
    colour = event_class.payload.member("colour").field_class
    assert colour.byte_order == "big"
    first, second = (
        (tmp_path / name / "cpu0").read_bytes() for name in ("first", "second")
    )
    assert first[20:] == second[20:]
    [again] = vestige.open(tmp_path / "second")
    assert again.stream.stream_class.event_classes == (event_class,)


@VERSIONS
def test_lengths_and_selectors_outside_of_a_structure(tmp_path, version):
    """The nearest member of the name is meant."""
    inner = {"b": "u8", "list": ctf.array({"c": ctf.array("u8", "n")}, "b")}
    with Writer(tmp_path / "out", version=version) as writer:
        event = writer.event_class("one", {"n": "u8", "inner": inner})
        given = {"n": 2, "inner": {"list": [{"c": [1, 2]}, {"c": b"ab"}]}}
        stream = writer.stream("cpu0")
        stream.write(event, 1, **given)
        with pytest.raises(FieldValueError, match=r"inner\.list\[0\]\.c: 1 elements"):
            stream.write(event, 1, n=2, inner={"list": [{"c": [1]}]})

    [(_, _, payload)] = read(tmp_path / "out")
    assert payload["inner"] == {"b": 2, "list": [{"c": [1, 2]}, {"c": [97, 98]}]}


def test_bytes_are_elements_of_8_bits(tmp_path):
    """Of any sign and alignment, if they fit."""
    declared = {"a": ["s8"], "b": [ctf.integer(8, alignment=16)], "c": ["u8"]}
    with Writer(tmp_path / "out") as writer:
        stream = writer.stream("cpu0")
        event = writer.event_class("one", declared)
        stream.write(event, 1, a=b"ab", b=bytearray(b"cd"), c=memoryview(b"ef"))
        with pytest.raises(FieldValueError, match=r"a\[1\]: 200 is out of range"):
            stream.write(event, 1, a=bytes([1, 200]), b=b"", c=b"")

    [(_, _, payload)] = read(tmp_path / "out")
    assert [payload[name] for name in "abc"] == [[97, 98], [99, 100], [101, 102]]


def test_deep_classes_are_refused(tmp_path):
    """However deep they are."""
    with Writer(tmp_path / "out") as writer:
        deep = "u8"
        for _ in range(120):
            deep = {"a": deep}
        with pytest.raises(DeclarationError, match="nested more than 100 deep"):
            writer.event_class("one", deep)
        for _ in range(3000):
            deep = {"a": deep}
        with pytest.raises(DeclarationError, match="nested too deep"):
            writer.event_class("one", deep)


def test_a_data_stream_keeps_its_writer_open(tmp_path):
    """When nothing refers to it any more, what is in memory is written."""
    stream = Writer(tmp_path / "out").stream("cpu0")
    gc.collect()
    other = stream.stream_class.event_class("one")
    stream.write(other, 1)
    del other, stream
    gc.collect()
    assert len(read(tmp_path / "out")) == 1


def test_threads_declare_and_write(tmp_path):
    """No record is in a file before its class is in the metadata."""
    with Writer(tmp_path / "out") as writer:

        def run(who):
            stream = writer.stream(f"cpu{who}")
            for number in range(50):
                event = writer.event_class(f"{who} {number}", {"n": "u8"})
                stream.write(event, number, n=number)
                stream.flush()
                assert f'"{who} {number}"' in (tmp_path / "out/metadata").read_text()

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(run, range(4)))

    assert len(read(tmp_path / "out")) == 200


def test_other_declarations_that_are_refused(tmp_path):
    """Of the writer itself; it makes no directory then."""
    with pytest.raises(DeclarationError, match="expected the version"):
        Writer(tmp_path / "out", version="3")
    with pytest.raises(DeclarationError, match="expected a packet size"):
        Writer(tmp_path / "out", packet_size=0)
    with pytest.raises(DeclarationError, match="each packet context has"):
        Writer(tmp_path / "out", packet_context={"packet_size": "u8"})
    with pytest.raises(DeclarationError, match="clock: the name of a clock class"):
        Writer(tmp_path / "out", clock=ctf.ClockClass("clock", 1, 0, 0))
    with pytest.raises(DeclarationError, match="frequency"):
        Writer(tmp_path / "out", clock=ctf.ClockClass("c", 0, 0, 0))
    with pytest.raises(DeclarationError, match="an entry of the environment"):
        Writer(tmp_path / "out", environment={"a-b": 1})
    assert not (tmp_path / "out").exists()
    with Writer(tmp_path / "out", event_context={"pid": int}) as writer:
        with pytest.raises(DeclarationError, match="pid: the common context has"):
            writer.event_class("one", context={"pid": int})
        with pytest.raises(DeclarationError, match="another clock class"):
            writer.stream_class(clock=ctf.ClockClass("realtime", 5, 0, 0))


KILLED = """
import os, signal, sys
from vestige.ctf import Writer
writer = Writer(sys.argv[1], version=sys.argv[2], packet_size=1000)
stream = writer.stream("cpu0")
for number in range(100):
    event = writer.event_class(f"event {number}", {"n": int})
    stream.write(event, number, n=number)
stream.flush()
stream.write(writer.event_class("late", {"n": int}), 200, n=1)
os.kill(os.getpid(), signal.SIGKILL)
"""


@VERSIONS
def test_what_was_flushed_survives_a_kill(tmp_path, version):
    """The metadata has more than the data, never less."""
    done = subprocess.run(
        [sys.executable, "-c", KILLED, tmp_path / "out", version],
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == -signal.SIGKILL
    assert [time for time, _, _ in read(tmp_path / "out")] == list(range(100))


ENDED = """
import sys
from vestige.ctf import Writer
writer = Writer(sys.argv[1])
writer.stream("cpu0").write(writer.event_class("one"), 1)
"""


def test_the_end_of_the_process_closes_the_writer(tmp_path):
    """Whoever forgets it loses nothing."""
    subprocess.run(
        [sys.executable, "-c", ENDED, tmp_path / "out"],
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert len(read(tmp_path / "out")) == 1


def test_a_child_writes_nothing_of_its_parent(tmp_path):
    """Both have the same packet in memory."""
    writer = Writer(tmp_path / "out")
    stream = writer.stream("cpu0")
    event = writer.event_class("one")
    stream.write(event, 1)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            stream.flush()
        except WriterClosedError:
            try:
                writer.event_class("two")
            except WriterClosedError:
                status = 0
        writer.close()
        os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    stream.write(event, 2)
    writer.close()
    assert [time for time, _, _ in read(tmp_path / "out")] == [1, 2]


def test_a_full_disk_leaves_whole_packets(tmp_path):
    """The packet waits until there is space again."""
    script = """
import resource, signal, sys
from vestige.ctf import Writer
from vestige.errors import StorageError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
writer = Writer(sys.argv[1], packet_size=1000)
stream = writer.stream("cpu0")
event = writer.event_class("one", {"text": str})
writer.flush()
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (2500, hard))
written = 0
try:
    for number in range(100):
        stream.write(event, number, text="x" * 90)
        written += 1
except StorageError as error:
    print(written, error.errno, error.path)
try:
    stream.write_many(event, range(100, 200), {"text": "y" * 90})
except StorageError as error:
    print(error.written)
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
for number in range(written, 100):
    stream.write(event, number, text="x" * 90)
resource.setrlimit(resource.RLIMIT_FSIZE, (2500, hard))
try:
    writer.close()
except StorageError as error:
    print(writer.is_closed)
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
writer.close()
"""
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path / "out"],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    first, second, third = done.stdout.splitlines()
    written, number, path = first.split()
    assert int(number) == errno.EFBIG
    assert path == str(tmp_path / "out" / "cpu0")
    assert (second, third) == ("0", "False")
    assert int(written) == 27
    assert [time for time, _, _ in read(tmp_path / "out")] == list(range(100))


def test_threads_share_a_data_stream(tmp_path):
    """Each record is written whole, whoever writes in bulk at that time."""
    with Writer(tmp_path / "out", packet_size=4096) as writer:
        stream = writer.stream("cpu0")
        event = writer.event_class("one", {"who": "u8", "texts": [str]})

        def run(who):
            for _ in range(200):
                stream.write(event, 5, who=who, texts=["ab", "c"])
                stream.write_many(event, [5] * 5, {"who": who, "texts": [["x"]] * 5})

        threads = [threading.Thread(target=run, args=(who,)) for who in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    found = read(tmp_path / "out")
    assert len(found) == 4 * 200 * 6
    for who in range(4):
        assert sum(payload["who"] == who for _, _, payload in found) == 1200


def test_reading_does_not_wait_for_the_writer():
    """Its modules are imported when they are first used."""
    script = (
        "import sys, vestige.ctf; assert not any('writer' in one for one in sys.modules);"
        "vestige.ctf.Writer; assert 'vestige.ctf.writing.writer' in sys.modules"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)
