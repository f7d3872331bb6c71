"""Threads, processes and CPUs of events, and what the names of fields mean."""

from __future__ import annotations

import pyarrow as pa
import pytest

import vestige
from support.recordings import DATA
from vestige import ctf

ORIGIN = ["thread", "process", "cpu"]


def write(directory, *, packet=None, common=None, specific=None, payload=None, **more):
    """Write a trace of one event; its scopes are values of fields by name."""
    scopes = (packet or {}, common or {}, specific or {}, payload or {"count": 1})
    packet, common, specific, payload = (
        {
            name: (str if isinstance(value, str) else "s32", value)
            for name, value in one.items()
        }
        for one in scopes
    )

    def declared(scope):
        return {name: kind for name, (kind, _) in scope.items()}

    def values(scope):
        return {name: value for name, (_, value) in scope.items()}

    with ctf.Writer(
        directory,
        packet_context=declared(packet),
        event_context=declared(common),
        **more,
    ) as writer:
        event = writer.event_class("e", declared(payload), context=declared(specific))
        stream = writer.stream("stream", **values(packet))
        context = {**values(common), **values(specific)}
        stream.write(event, 1_000, context, **values(payload))
    return vestige.open(directory, debug_info=False)


def only(trace):
    """Return the only event of a trace."""
    [event] = trace
    return event


def origin(event):
    """Return where an event comes from."""
    return event.thread, event.process, event.cpu, event.process_name


def row(trace, columns):
    """Return the only row of a trace's columns."""
    [row] = pa.table(trace.to_arrow(columns)).to_pylist()
    return row


@pytest.mark.parametrize(
    ("scopes", "expected"),
    [
        (
            # A recording of ours: a data stream for each thread.
            {"packet": {"vpid": 10, "vtid": 11, "procname": "app"}},
            (11, 10, None, "app"),
        ),
        (
            # LTTng, user space: a data stream for each CPU.
            {
                "packet": {"cpu_id": 3},
                "common": {"vpid": 10, "vtid": 11, "procname": "app"},
            },
            (11, 10, 3, "app"),
        ),
        (
            # LTTng, kernel: IDs of the machine beside those of a namespace.
            {
                "packet": {"cpu_id": 2},
                "common": {
                    "vtid": 7,
                    "vpid": 6,
                    "tid": 71,
                    "pid": 61,
                    "procname": "sh",
                },
            },
            (71, 61, 2, "sh"),
        ),
        ({"specific": {"vtid": 5, "vpid": 4}}, (5, 4, None, None)),
        # Payloads name other threads, such as the one that is woken.
        ({"payload": {"tid": 99, "vtid": 98, "cpu_id": 1}}, (None, None, None, None)),
        # What cannot be an ID is none.
        ({"common": {"vtid": "main", "procname": 3}}, (None, None, None, None)),
        (
            {"environment": {"vpid": 42, "procname": "alone", "tracer_name": "x"}},
            (None, 42, None, "alone"),
        ),
        (
            {"environment": {"vpid": 42}, "common": {"vpid": 43}},
            (None, 43, None, None),
        ),
    ],
    ids=[
        "ours",
        "user",
        "kernel",
        "specific",
        "payload",
        "types",
        "environment",
        "both",
    ],
)
def test_thread_process_and_cpu(tmp_path, scopes, expected):
    """From whatever context tells them; attributes and columns agree."""
    trace = write(tmp_path / "trace", **scopes)
    columns = [
        name for name, value in zip(ORIGIN, expected, strict=False) if value is not None
    ]

    assert origin(only(trace)) == expected
    assert [name for name in trace.to_arrow().names if name in ORIGIN] == columns
    if columns:
        values = dict(zip([*ORIGIN, "process_name"], expected, strict=True))
        assert row(trace, columns) == {name: values[name] for name in columns}


@pytest.mark.parametrize("columns", [None, ["thread"], ["vtid", "thread"], ["process"]])
def test_columns_beside_those_of_the_fields(columns):
    """Both are right, whichever of them is wanted: a recording by LTTng of each process."""
    trace = vestige.open(DATA / "threads-pid")
    table = pa.table(trace.to_arrow(columns)).to_pydict()
    events = list(trace)

    assert len(events) > 100
    if "thread" in table:
        assert table["thread"] == [event.thread for event in events]
    if "process" in table:
        assert table["process"] == [event.process for event in events]
    if "vtid" in table:
        assert table["vtid"] == [event["vtid"] for event in events]
    assert len({event.thread for event in events}) > 2


def test_a_class_that_does_not_tell_has_no_value(tmp_path):
    """One of two event record classes has a context of its own."""
    with ctf.Writer(tmp_path / "trace", environment={"vpid": 1}) as writer:
        told = writer.event_class(
            "told", {"n": "s32"}, context={"vtid": "s32", "vpid": "u32"}
        )
        untold = writer.event_class("untold", {"n": "s32"})
        stream = writer.stream("stream")
        for time in range(0, 3000, 2):
            stream.write(told, time, {"vtid": time, "vpid": 2}, n=time)
            stream.write(untold, time + 1, n=time)
    trace = vestige.open(tmp_path / "trace", debug_info=False)
    table = pa.table(trace.to_arrow(["thread", "vtid", "process"])).to_pylist()

    assert table == [
        {"thread": event.thread, "vtid": event.get("vtid"), "process": event.process}
        for event in trace
    ]
    assert [tuple(one.values()) for one in table[:3]] == [
        (0, 0, 2),
        (None, None, 1),
        (2, 2, 2),
    ]


class TestNames:
    """What a name means that several scopes have."""

    SCOPES = {
        "packet": {"one": 1, "two": 1, "three": 1, "four": 1},
        "common": {"one": 2, "three": 2},
        "specific": {"two": 3, "five": 3},
        "payload": {"one": 4, "five": 4},
    }

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("one", 4),
            ("two", 3),
            ("three", 2),
            ("four", 1),
            ("payload.one", 4),
            ("five", 4),
            ("specific_context.five", 3),
            ("context.one", 2),
            ("packet_context.one", 1),
            ("context.three", 2),
        ],
    )
    def test_the_nearest_scope_has_the_name(self, tmp_path, name, value):
        """In an event and in columns; the others are reached by their scope."""
        trace = write(tmp_path / "trace", **self.SCOPES)
        event = only(trace)

        assert event[name] == event.get(name) == value
        assert name in event
        assert row(trace, [name]) == {name: value}

    def test_the_keys_of_an_event_are_the_columns(self, tmp_path):
        """Each of them is found, and each is a column."""
        trace = write(tmp_path / "trace", **self.SCOPES)
        event = only(trace)
        names = trace.to_arrow().names

        assert sorted(event.keys()) == sorted(
            set(names) - {"timestamp", "event", "stream_id"}
        )
        assert dict(event) == row(trace, event.keys())

    @pytest.mark.parametrize(
        "name", ["nothing", "payload.two", "context.four", "payload.", ""]
    )
    def test_what_is_in_no_scope(self, tmp_path, name):
        """A KeyError, or the default."""
        event = only(write(tmp_path / "trace", **self.SCOPES))

        assert name not in event
        assert event.get(name, 7) == 7
        with pytest.raises(KeyError):
            event[name]

    @pytest.mark.parametrize("name", ORIGIN)
    def test_a_field_of_the_name_of_a_fact(self, tmp_path, name):
        """Its column comes with the scope, as those of other fixed columns."""
        trace = write(tmp_path / "trace", payload={name: 9}, common={"vtid": 1})
        event = only(trace)

        assert event[name] == event[f"payload.{name}"] == 9
        assert row(trace, [f"payload.{name}"]) == {f"payload.{name}": 9}
