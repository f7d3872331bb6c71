"""Writing event records from columns."""

from __future__ import annotations

import array

import pytest

import vestige
from vestige import ctf
from vestige.ctf import Writer
from vestige.errors import FieldValueError, TimestampError, UnknownFieldError

TIMES = [10, 20, 30]


@pytest.fixture
def writer(tmp_path):
    """A writer that is closed at the end."""
    with Writer(tmp_path / "out", event_context={"cpu": "u8"}) as writer:
        yield writer


@pytest.fixture
def stream(writer):
    """Its data stream."""
    return writer.stream("cpu0")


@pytest.fixture
def written(tmp_path):
    """Writes columns of one class; returns times, and values of its field."""

    def write(declaration, column, times=TIMES, version="2"):
        with Writer(tmp_path / "out", version=version) as writer:
            event = writer.event_class("one", {"value": declaration})
            count = writer.stream("cpu0").write_many(event, times, {"value": column})
        events = list(vestige.open(tmp_path / "out", strict=True))
        assert count == len(events)
        return [event.payload["value"] for event in events]

    return write


@pytest.mark.parametrize("code", "bBhHiIlLqQ")
def test_arrays_of_integers(written, code):
    """Of all kinds that the module array has."""
    assert written("s16", array.array(code, [1, 2, 3])) == [1, 2, 3]


@pytest.mark.parametrize("code", "fd")
def test_arrays_of_floats(written, code):
    """Of both sizes."""
    assert written(float, array.array(code, [0.5, 2, -3])) == [0.5, 2, -3]


def test_integers_become_floats(written):
    """Of a buffer and of a list."""
    assert written(float, array.array("b", [1, 2, 3])) == [1, 2, 3]


@pytest.mark.parametrize(
    ("declaration", "column", "expected"),
    [
        ("u8", [1, 2, 3], [1, 2, 3]),
        ("u8", (1, 2, 3), [1, 2, 3]),
        ("u8", 7, [7, 7, 7]),
        ("u64", [1, 2, (1 << 64) - 1], [1, 2, (1 << 64) - 1]),
        ("u70", [1, 2, 1 << 69], [1, 2, 1 << 69]),
        (bool, [True, False, True], [True, False, True]),
        (float, [1, 2.5, 3], [1, 2.5, 3]),
        (str, ["a", "", "é"], ["a", "", "é"]),
        (str, "same", ["same"] * 3),
        (str, (array.array("i", [0, 1, 1, 3]), b"abc"), ["a", "", "bc"]),
        (str, (array.array("q", [1, 1, 2, 3]), bytearray(b"abc")), ["", "b", "c"]),
        (bytes, [b"ab", b"", b"c"], [b"ab", b"", b"c"]),
        (["u16"], [[1], [], [2, 3]], [[1], [], [2, 3]]),
        ({"a": "u8"}, {"a": [1, 2, 3]}, [{"a": 1}, {"a": 2}, {"a": 3}]),
        ({"a": "u8"}, [{"a": 1}, {"a": 2}, {"a": 3}], [{"a": 1}, {"a": 2}, {"a": 3}]),
        (ctf.optional("u8"), [1, None, 3], [1, None, 3]),
        (ctf.optional("u8"), None, [None] * 3),
        (ctf.array("u8", 3, text=True), ["abc", "a", ""], ["abc", "a", ""]),
        (ctf.string(encoding="utf-16le"), ["é", "b", ""], ["é", "b", ""]),
        (
            ctf.variant({"n": "u8", "t": str}),
            [("n", 1), ("t", "x"), ("n", 3)],
            [1, "x", 3],
        ),
    ],
)
def test_columns(written, declaration, column, expected):
    """Lists, single values, Arrow's layout of texts, structures."""
    assert written(declaration, column) == expected


def test_a_buffer_of_two_dimensions_is_arrays(written):
    """As many as it has rows."""
    flat = array.array("h", [1, 2, 3, 4, 5, 6])
    rows = memoryview(flat).cast("B").cast("h", (3, 2))
    assert written(["s32"], rows) == [[1, 2], [3, 4], [5, 6]]


def test_arrays_of_numpy(written):
    """Whole, strided, of truths, in two dimensions, of texts, and times of its own."""
    numpy = pytest.importorskip("numpy")
    assert written("u32", numpy.arange(6, dtype="u4")[::2]) == [0, 2, 4]


def test_truths_of_numpy(written):
    """As booleans."""
    numpy = pytest.importorskip("numpy")
    assert written(bool, numpy.array([True, False, True])) == [True, False, True]


def test_texts_of_numpy(written):
    """They have no buffer that others read."""
    numpy = pytest.importorskip("numpy")
    assert written(str, numpy.array(["a", "bc", "d"])) == ["a", "bc", "d"]


def test_numbers_of_numpy_in_the_other_byte_order(written):
    """By way of a list."""
    numpy = pytest.importorskip("numpy")
    assert written("u32", numpy.array([1, 2, 3], dtype=">u4")) == [1, 2, 3]


def test_times_of_numpy(tmp_path):
    """Nanoseconds since the epoch, as datetime64 has them."""
    numpy = pytest.importorskip("numpy")
    times = numpy.array(
        ["1970-01-01T00:00:01", "1970-01-01T00:00:02"], "datetime64[ns]"
    )
    with Writer(tmp_path / "out") as writer:
        writer.stream("cpu0").write_many(writer.event_class("one"), times)
    found = [event.timestamp for event in vestige.open(tmp_path / "out")]
    assert found == [1_000_000_000, 2_000_000_000]


@pytest.mark.parametrize("kind", ["string", "large_string", "int32", "dictionary"])
def test_arrays_of_arrow(written, kind):
    """Sliced ones too."""
    arrow = pytest.importorskip("pyarrow")
    if kind == "int32":
        column = arrow.array([9, 1, 2, 3], "int32")[1:]
        assert written("u8", column) == [1, 2, 3]
        return
    text = arrow.array(["x", "a", "", "bc", "y"], "string")
    column = text.dictionary_encode() if kind == "dictionary" else text.cast(kind)
    assert written(str, column[1:4]) == ["a", "", "bc"]


def test_nulls_of_arrow_are_no_texts(writer, stream):
    """They are told, not made empty."""
    arrow = pytest.importorskip("pyarrow")
    event = writer.event_class("one", {"text": str})
    column = arrow.array(["a", None, "b"])
    with pytest.raises(FieldValueError, match="text: expected a text in each row: 1"):
        stream.write_many(event, TIMES, {"text": column}, context={"cpu": 1})


@pytest.mark.parametrize(
    "times", [TIMES, tuple(TIMES), array.array("Q", TIMES), array.array("i", TIMES)]
)
def test_time_stamps(written, times):
    """Buffers and lists."""
    assert written("u8", 1, times) == [1, 1, 1]


def test_no_rows(written):
    """Nothing is written."""
    assert written("u8", [], []) == []


def test_columns_of_contexts(writer, stream, tmp_path):
    """They are given apart from those of the payload."""
    event = writer.event_class("one", {"n": "u8"}, context={"depth": "u8"})
    context = {"cpu": 3, "depth": [1, 2, 3]}
    stream.write_many(event, TIMES, {"n": [4, 5, 6]}, context=context)
    stream.flush()

    found = list(vestige.open(tmp_path / "out"))
    assert [one["cpu"] for one in found] == [3, 3, 3]
    assert [one["depth"] for one in found] == [1, 2, 3]


BAD = [
    ({"n": [1, 300, 3], "text": "x"}, FieldValueError, 1, "row 1, n: 300 is out of"),
    ({"n": array.array("h", [1, 2, -1]), "text": "x"}, FieldValueError, 2, "-1 is out"),
    ({"n": [1, "x", 3], "text": "x"}, FieldValueError, 1, "row 1, n: expected an int"),
    ({"n": 1, "text": ["a", "b\0", "c"]}, FieldValueError, 1, "row 1, text: U+0000"),
    ({"n": 1, "text": ["a", "b", 5]}, FieldValueError, 2, "expected a text: 5 is of"),
    (
        {"n": [1, 2], "text": "x"},
        FieldValueError,
        None,
        "n: 2 rows are given: expected 3",
    ),
    ({"n": 1}, FieldValueError, 0, "row 0, text: no value is given"),
    ({"n": 1, "text": "x", "m": 1}, UnknownFieldError, None, "there is no field m"),
    (
        {"n": 1, "text": object()},
        FieldValueError,
        None,
        "text: expected a buffer, a list",
    ),
    (
        {"n": 1, "text": (array.array("i", [0, 2, 1, 1]), b"ab")},
        FieldValueError,
        None,
        "text: offsets go back",
    ),
    (
        {"n": 1, "text": (array.array("i", [0, 1, 2, 3]), b"ab")},
        FieldValueError,
        None,
        "text: offsets go back or past",
    ),
]


@pytest.mark.parametrize(("columns", "kind", "row", "message"), BAD)
def test_all_or_nothing_is_written(
    writer, stream, tmp_path, columns, kind, row, message
):
    """The error tells the row."""
    event = writer.event_class("one", {"n": "u8", "text": str})
    with pytest.raises(kind) as caught:
        stream.write_many(event, TIMES, columns, context={"cpu": 1})
    assert message in str(caught.value)
    assert getattr(caught.value, "row", None) == row
    stream.write_many(event, [40], {"n": 1, "text": "x"}, context={"cpu": 1})
    stream.flush()
    assert [one.timestamp for one in vestige.open(tmp_path / "out")] == [40]


@pytest.mark.parametrize(
    ("times", "row"),
    [
        ([10, 5, 20], 1),
        ([3, 4, 1 << 63], 2),
        ([1, -1, 2], 1),
        (array.array("q", [1, 2, -5]), 2),
        ([1, 2, "x"], None),
        (5, None),
    ],
)
def test_times_that_are_refused(writer, stream, times, row):
    """They are judged before anything is written."""
    event = writer.event_class("one", {"n": "u8"})
    with pytest.raises((TimestampError, FieldValueError)) as caught:
        stream.write_many(event, times, {"n": 1}, context={"cpu": 1})
    assert caught.value.row == row
    assert stream.last_timestamp == 0


def test_many_records_fill_many_packets(tmp_path):
    """As records that are written one by one."""
    count = 20_000
    with Writer(tmp_path / "out", packet_size=5000) as writer:
        event = writer.event_class("one", {"n": "u32"})
        writer.stream("cpu0").write_many(event, range(count), {"n": list(range(count))})

    found = [event["n"] for event in vestige.open(tmp_path / "out", strict=True)]
    assert found == list(range(count))
