"""Filters that few event records pass: what is read around them is left behind early."""

from __future__ import annotations

import random
import signal
import time
import warnings

import pytest

import vestige
from vestige import ctf

RECORDS = 30_000
RARE = 997
"""One record in so many has this status, or a multiple of it."""
EXPRESSIONS = {
    "status == 997": lambda e: e["status"] == RARE,
    "status >= 997 && $ctx.vtid == 7": lambda e: e["status"] >= RARE and e["vtid"] == 7,
    "997 <= status": lambda e: e["status"] >= RARE,
    "status > 996 && code != -3": lambda e: e["status"] > 996 and e["code"] != -3,
    "code < -119": lambda e: e["code"] < -119,
    "code <= -119 && !(status < 500)": lambda e: (
        e["code"] <= -119 and e["status"] >= 500
    ),
    "status == 997 || behind == 18446744073709551615": lambda e: (
        e["status"] == RARE or e["behind"] == 2**64 - 1
    ),
    "behind < 0 && text == '*7'": lambda e: (
        e["behind"] >= 2**63 and e["text"].endswith("7")
    ),
    "large == 3 && status > 990": lambda e: e["large"] == 3 and e["status"] > 990,
    "status > 5000": lambda e: e["status"] > 5000,
}


def write(directory, order="little"):
    """Write two data streams of many packets, with integers before and behind a string."""
    source = random.Random(5)  # noqa: S311 - no secrets
    fields = {
        "status": "u16",
        "code": "s8",
        "text": str,
        "behind": "u64",
        "large": "u32",
    }
    with ctf.Writer(directory, byte_order=order) as writer:
        made = writer.event_class("a:made", fields, context={"vtid": "s32"})
        other = writer.event_class("b:other", {"text": str})
        streams = [writer.stream(name) for name in ("first", "second")]
        for n in range(RECORDS):
            stream = streams[source.random() < 0.3]
            if n % 5 == 4:
                stream.write(other, n, text="x" * (n % 23))
                continue
            stream.write(
                made,
                n,
                {"vtid": n % 10},
                status=source.randrange(1000),
                code=source.randrange(-120, 120),
                text=f"{n:{n % 19}}",
                behind=2**64 - 1 - n % 300 if n % 7 == 0 else n,
                large=n % 5,
            )
    return directory


@pytest.fixture(scope="module", params=["little", "big"])
def sparse(request, tmp_path_factory):
    """The trace, in a byte order."""
    return write(tmp_path_factory.mktemp("sparse") / "trace", request.param)


def facts(event):
    """Return all that there is to know of an event."""
    return (
        event.name,
        event.timestamp,
        event.cycles,
        event.file_offset,
        event.stream.facts.name,
        dict(event.payload),
        dict(event.context),
        dict(event.specific_context),
        dict(event.packet_context),
    )


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_events_are_those_that_python_would_choose(sparse, expression):
    """With all their facts, in their order, and counted alike."""
    trace = vestige.open(sparse, debug_info=False)
    is_wanted = EXPRESSIONS[expression]
    expected = [facts(event) for event in trace.events("a:*") if is_wanted(event)]

    chosen = trace.events("a:*", where=expression)
    assert [facts(event) for event in chosen] == expected
    assert len(trace.events("a:*", where=expression)) == len(expected)
    assert sum(trace.events(where=expression).counts().values()) == len(expected)


def test_random_thresholds_and_times(sparse):
    """Together with names and ranges of times."""
    source = random.Random(9)  # noqa: S311 - no secrets
    trace = vestige.open(sparse, debug_info=False)
    events = [
        (e.timestamp, e["status"], e["code"], e["vtid"]) for e in trace.events("a:*")
    ]
    found = 0
    for _ in range(60):
        low, code, thread = (
            source.randrange(900, 1000),
            source.randrange(-120, 120),
            source.randrange(10),
        )
        begin = source.choice((None, source.randrange(RECORDS)))
        end = source.choice((None, source.randrange(RECORDS)))
        text = f"status >= {low} && code <= {code} && $ctx.vtid != {thread}"
        chosen = [e.timestamp for e in trace.events(begin=begin, end=end, where=text)]
        assert chosen == [
            time
            for time, status, one, vtid in events
            if (status >= low and one <= code and vtid != thread)
            and (begin is None or time >= begin)
            and (end is None or time <= end)
        ]
        found += len(chosen)
    assert found > RECORDS // 20


def test_columns_and_text_of_what_is_left(sparse):
    """Values of packets, too."""
    expression = "status >= 997"
    trace = vestige.open(sparse, debug_info=False)
    chosen = trace.events("a:*", where=expression)
    table = chosen.to_polars(["timestamp", "status", "text", "behind"])

    expected = [
        (e.timestamp, e["status"], e["text"], e["behind"])
        for e in trace.events("a:*")
        if e["status"] >= RARE
    ]
    times = [time for time, *_ in expected]
    assert table["status"].to_list() == [status for _, status, *_ in expected]
    assert table["text"].to_list() == [text for _, _, text, _ in expected]
    assert table["behind"].to_list() == [behind for *_, behind in expected]
    assert [event.timestamp for event in chosen] == times


def test_damage_is_that_of_the_whole_trace(tmp_path):
    """Whatever bytes are changed; before damage, no other records pass."""
    source = random.Random(6)  # noqa: S311 - no secrets
    write(tmp_path / "trace")
    paths = [p for p in (tmp_path / "trace").iterdir() if p.name != "metadata"]
    good = {path: path.read_bytes() for path in paths}
    damages = 0
    for _ in range(25):
        for path, data in good.items():
            broken = bytearray(data)
            for _ in range(source.choice((0, 1, 4))):
                broken[source.randrange(len(broken))] = source.randrange(256)
            path.write_bytes(broken)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            whole, part = (
                vestige.open(tmp_path / "trace", debug_info=False) for _ in "ab"
            )
            events = [
                facts(event)
                for event in whole
                if event.name == "a:made" and event["status"] >= RARE
            ]
            assert [facts(e) for e in part.events(where="status >= 997")] == events
        told = [(one.path, one.kind, one.start, one.end) for one in whole.damage]
        assert [(d.path, d.kind, d.start, d.end) for d in part.damage] == told
        assert part.losses == whole.losses
        damages += len(told)
    assert damages > 10


def reads(monkeypatch, trace):
    """Return a list that grows with each reading of a trace."""
    begun = []
    read = type(trace).read

    def noted(self, selection, **options):
        begun.append(options)
        return read(self, selection, **options)

    monkeypatch.setattr(type(trace), "read", noted)
    return begun


def test_a_list_of_few_events_reads_once(sparse, monkeypatch):
    """The length that a list asks for comes from the same reading."""
    trace = vestige.open(sparse, debug_info=False)
    begun = reads(monkeypatch, trace)
    chosen = trace.events("a:*", where="status == 997")
    events = list(chosen)

    assert len(begun) == 1
    assert len(events) == len(chosen) > 0
    assert [e.timestamp for e in events] == [e.timestamp for e in chosen]


def test_a_list_of_many_events_has_them_all(sparse, monkeypatch):
    """Where counting would keep too much, it is read again."""
    monkeypatch.setattr("vestige.trace.selection.MOST_KEPT", 0)
    trace = vestige.open(sparse, debug_info=False)
    begun = reads(monkeypatch, trace)

    assert len(list(trace)) == RECORDS
    assert len(begun) > 1


def test_counting_between_two_events_changes_no_iterator(sparse):
    """An iterator that has begun is not asked."""
    trace = vestige.open(sparse, debug_info=False)
    chosen = trace.events("a:*", where="status == 997")
    events = iter(chosen)
    times = [next(events).timestamp]
    count = len(chosen)
    times += [event.timestamp for event in events]
    assert len(times) == count == len(set(times))


def test_an_error_while_counting_is_there_for_the_iterator(sparse):
    """It does not end early instead."""
    trace = vestige.open(sparse, debug_info=False)
    failures = [KeyboardInterrupt()]

    def merges():
        for merge in vestige.open(sparse, debug_info=False).merges():
            yield merge
            if failures:
                raise failures.pop()

    trace.merges = merges
    events = iter(trace)
    with pytest.raises(KeyboardInterrupt):
        len(trace)
    assert sum(1 for _ in events) == RECORDS


ZEROS = """/* CTF 1.8 */
typealias integer { size = 64; align = 8; } := u64;
trace { major = 1; minor = 8; byte_order = le; };
clock { name = c; freq = 1000000000; };
typealias integer { size = 64; align = 8; map = clock.c.value; } := time_t;
stream { event.header := struct { time_t t; }; };
event { name = "zero"; fields := struct { u64 value; }; };
"""
MANY_BYTES = 64 << 30
"""Reading so many takes minutes; the file is a hole and takes none of them."""


def test_reading_without_a_match_can_be_interrupted(tmp_path):
    """A signal is handled soon, however far the next event is that passes."""
    (tmp_path / "metadata").write_text(ZEROS)
    with (tmp_path / "stream").open("wb") as file:
        file.truncate(MANY_BYTES)
    trace = vestige.open(tmp_path, debug_info=False)

    def interrupt(_signal, _frame):
        raise InterruptedError

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        # Not by the clock: a busy machine lets it wait as long as it likes.
        start = time.process_time()
        with pytest.raises(InterruptedError):
            list(trace.events(where="value == 1"))
        assert time.process_time() - start < 10
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
