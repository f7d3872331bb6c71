"""Filter expressions when traces are read: which event records pass."""

from __future__ import annotations

import pickle
import random
import warnings

import pytest

import vestige
from support.filter_model import FILTERS, passes, random_filter
from support.filter_samples import ENCODINGS, SAMPLES, write_samples
from support.recordings import open_demo
from vestige import SelectionError, ctf
from vestige.core import Muxer, RecordFilter
from vestige.expressions import compile_filter
from vestige.expressions.code import Operation


def found(trace, expression):
    """Return the times of the events that pass; none when none can."""
    try:
        return [event.timestamp for event in trace.events(where=expression)]
    except SelectionError:
        return []


@pytest.fixture(scope="module", params=ENCODINGS)
def written(request, tmp_path_factory):
    """A trace of the samples, and their fields."""
    directory = tmp_path_factory.mktemp("samples") / request.param
    samples = write_samples(directory, request.param)
    return vestige.open(directory, debug_info=False), samples


def test_random_expressions(written):
    """Let those records pass that a plain evaluation lets pass."""
    trace, samples = written
    source = random.Random(12)  # noqa: S311 - no secrets
    filters = {one.text: one for one in (random_filter(source) for _ in range(400))}
    expected = {
        text: [index for index, fields in enumerate(samples) if passes(one, fields)]
        for text, one in filters.items()
    }

    assert {text: found(trace, text) for text in filters} == expected
    assert sum(0 < len(one) < SAMPLES for one in expected.values()) > 100


def test_an_encoding_changes_nothing(written, tmp_path):
    """All listed expressions find the same in each."""
    trace, _ = written
    write_samples(tmp_path / "plain", "little")
    plain = vestige.open(tmp_path / "plain", debug_info=False)

    # The recorder has its own contexts.
    filters = [text for text in FILTERS if "$" not in text]
    results = {text: found(trace, text) for text in filters}
    assert results == {text: found(plain, text) for text in filters}
    assert sum(0 < len(one) < SAMPLES for one in results.values()) > len(filters) // 2


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("point.x > 1", [1, 2]),
        ("point.name == 'b*'", [1]),
        ("grid[1].y == 4", [1]),
        ("grid[2].y", []),
        ("grid[1].tags[0] == 't1'", [1]),
        ("rows[1][1] == 3", [1]),
        ("rows[1][2] == 3 || 1", []),
        ("floats[1] > 1.5", [2]),
        ("words[0] == 'w*' && words[0] != 'w1'", [0, 2]),
        # The option that is there, by its name or without.
        ("answer.code == 7", [1]),
        ("answer == 7", [1]),
        ("answer == 'yes'", [0]),
        ("answer.text == '*' || 1", [0]),
        ("answer.x == 9", [2]),
        ("answer.place.x == 9", [2]),
        ("!answer || 1", [1]),
        ("answer < 8", [1]),
        ("maybe == 5", [1]),
        ("maybe == 5 || 1", [0, 1]),
        ("number < 1 || maybe == 5", [0, 1]),
        ("truth", [0, 2]),
        ("truth == 1 && !0", [0, 2]),
        ("flags & 4", [2]),
        ("large == 18446744073709551615", [1]),
        # 64 bits do not hold it: no value.
        ("large == 0 || 1", [0, 1]),
        ("half == 0.5", [1]),
        ("text == 'ab'", [0]),
        ("text == '\u00e9*'", [1]),
    ],
)
def test_all_kinds_of_fields(kinds, expression, expected):
    """Also those that no recorder has."""
    assert found(kinds, expression) == expected


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    """Three records with fields of all kinds."""
    directory = tmp_path_factory.mktemp("kinds") / "trace"
    point = {"x": "s8", "name": str}
    cell = {"tags": ctf.array(str, 2), "y": "u16"}
    fields = {
        "number": "u3",
        "point": point,
        "grid": ctf.array(cell, 2),
        "rows": [ctf.array("u7", 2)],
        "floats": ctf.array("f32", 3),
        "words": [str],
        "answer": ctf.variant({"text": str, "code": "s32", "place": {"x": "u8"}}),
        "maybe": ctf.optional("u8"),
        "truth": bool,
        "flags": ctf.bit_map(9, {"a": 0, "b": 2}),
        "large": ctf.integer(100),
        "half": ctf.floating_point(32),
        "text": ctf.string(encoding="utf-16le", length=12),
    }
    answers = [("text", "yes"), ("code", 7), ("place", {"x": 9})]
    with ctf.Writer(directory, version="2") as writer:
        made = writer.event_class("kinds", fields)
        stream = writer.stream("stream")
        for n in range(3):
            stream.write(
                made,
                n,
                number=n,
                point={"x": n + 1, "name": "abc"[n]},
                grid=[
                    {"tags": ["s", ""], "y": 3 * n},
                    {"tags": [f"t{n}", "long text"], "y": 4 * n},
                ],
                rows=[[1, 2], [n, 3 * n]][: n + 1],
                floats=[0, n, 7],
                words=[f"w{n}"] * (n + 1),
                answer=answers[n],
                maybe=(None if n == 2 else 4 + n),
                truth=n != 1,
                flags=n * 2,
                large=(5, (1 << 64) - 1, 1 << 64)[n],
                half=n / 2,
                text=("ab", "\u00e9t\u00e9", "")[n],
            )
    return vestige.open(directory, debug_info=False)


@pytest.fixture(scope="module")
def contexts(tmp_path_factory):
    """Records whose contexts are in all scopes."""
    directory = tmp_path_factory.mktemp("contexts") / "trace"
    with ctf.Writer(
        directory,
        environment={"vpid": 77, "procname": "server", "other": 1},
        packet_context={"cpu_id": "u8", "both": "u8", "place": {"node": "u8"}},
        event_context={
            "vtid": "s32",
            "both": "u8",
            "perf_thread_cpu_cycles": "u64",
            "_app_shop_user": ctf.array("u8", 8, text=True),
        },
    ) as writer:
        plain = writer.event_class("plain", {"both": "u8", "vtid": "u8"})
        special = writer.event_class("special", {}, context={"own": "u8"})
        for cpu in range(2):
            place = {"node": cpu + 5}
            stream = writer.stream(f"cpu{cpu}", cpu_id=cpu, both=100, place=place)
            common = {
                "vtid": 40 + cpu,
                "both": 10,
                "perf_thread_cpu_cycles": 9,
                "_app_shop_user": "ann",
            }
            stream.write(plain, cpu, common, both=1, vtid=0)
            common = {**common, "both": 20, "own": cpu}
            stream.write(special, 10 + cpu, common)
    return vestige.open(directory, debug_info=False)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("$ctx.vtid == 41", [1, 11]),
        ("$ctx.cpu_id == 1", [1, 11]),
        ("$ctx.cpu_id == 0 && $ctx.vtid != 40 || $ctx.cpu_id", [1, 11]),
        ("$ctx.place.node == 5", [0, 10]),
        ("both == 1 && vtid == 0", [0, 1]),
        ("$ctx.both == 10", [0, 1]),
        ("$ctx.own == 1", [11]),
        ("$ctx.own == 1 || 1", [10, 11]),
        ("$ctx.perf:thread:cpu-cycles == 9", [0, 1, 10, 11]),
        ("$app.shop:user == 'a*'", [0, 1, 10, 11]),
        ("$ctx.vpid == 77 && $ctx.procname == 'ser*'", [0, 1, 10, 11]),
        ("$ctx.other == 1", []),
        ("cpu_id == 1", []),
    ],
)
def test_contexts(contexts, expression, expected):
    """Those of the record, of its packet, and what the trace tells of its process."""
    assert found(contexts, expression) == expected


@pytest.fixture(scope="module")
def orders(tmp_path_factory):
    """A thousand orders and hundred answers in many packets of two data streams."""
    directory = tmp_path_factory.mktemp("orders") / "trace"
    with ctf.Writer(
        directory, packet_size=2048, event_context={"vtid": "s32"}
    ) as writer:
        order = writer.event_class("shop:order", {"price": "u32", "item": str})
        answer = writer.event_class("shop:answer", {"status": "u16"})
        streams = [writer.stream(name) for name in ("one", "two")]
        for n in range(1000):
            stream, vtid = streams[n % 2], {"vtid": n % 7}
            stream.write(order, n, vtid, price=n % 50, item=f"item {n % 3}")
            if n % 10 == 0:
                stream.write(answer, n, vtid, status=200 + n % 400)
    return vestige.open(directory, debug_info=False)


EXPRESSION = "price >= 40 && item == '*1' || $ctx.vtid == 3 && price < 2"


def expected_orders():
    """Return the times of the orders that pass the expression."""
    return [
        n
        for n in range(1000)
        if (n % 50 >= 40 and n % 3 == 1) or (n % 7 == 3 and n % 50 < 2)
    ]


def test_what_does_not_pass_is_nowhere(orders):
    """In events, numbers, columns, times, parts and files."""
    chosen = orders.events(where=EXPRESSION)
    expected = expected_orders()

    assert [event.timestamp for event in chosen] == expected
    assert (chosen.count(), len(chosen)) == (len(expected),) * 2
    assert chosen.counts() == {"shop:order": len(expected)}
    assert chosen.time_span == (expected[0], expected[-1])
    assert chosen
    assert not orders.events(where="price > 100000")
    columns = chosen.to_arrow()
    assert "status" not in columns.names
    assert columns.drain() == len(expected)


def test_expressions_narrow_other_selections(orders):
    """Names, times and expressions, in any order; all must hold."""
    expected = [n for n in expected_orders() if 100 <= n <= 700]
    both = orders.events("shop:o*", begin=100, end=700, where=EXPRESSION)
    apart = orders.events(where=EXPRESSION)[100:701].events("*:order")
    twice = orders.events(where="price >= 40").events(where="item == '*1'")

    assert [event.timestamp for event in both] == expected
    assert [event.timestamp for event in apart] == expected
    assert [event.timestamp for event in twice] == [
        n for n in range(1000) if n % 50 >= 40 and n % 3 == 1
    ]
    answers = orders.events(where="status > 400")
    assert [event.name for event in answers] == ["shop:answer"] * len(answers)
    assert not list(answers.events("shop:order"))


def test_source_places_are_the_same_under_a_filter():
    """Though neither loads of objects nor all entries of functions pass."""
    demo = open_demo()
    addresses = {event["addr"] for event in demo.events("*:func_entry")}
    low = sorted(addresses)[len(addresses) // 2]
    expected = [
        (event.timestamp, event.debug_info)
        for event in demo.events("*:func_entry")
        if event["addr"] <= low
    ]
    found = demo.events("*:func_entry", where=f"addr <= {low}")

    assert [(event.timestamp, event.debug_info) for event in found] == expected
    assert 0 < len(expected) < len(demo.events("*:func_entry"))


def test_parts_of_a_filtered_selection_are_the_selection(orders):
    """Also in another process, which compiles the expression again."""
    chosen = orders.events(where=EXPRESSION)
    parts = [pickle.loads(pickle.dumps(one)) for one in chosen.partitions(4)]  # noqa: S301 - ours

    assert len(parts) > 1
    assert [e.timestamp for part in parts for e in part] == expected_orders()


@pytest.mark.parametrize(
    ("pattern", "expression", "expected"),
    [
        ("*", "prize > 3", "no selected event has a field 'prize'; there are price"),
        (
            "*",
            "vtid == 3",
            "no selected event has a field 'vtid'; the context is '.ctx.vtid'",
        ),
        ("*", "$ctx.tid == 3", "no selected event has the context 'tid'; .* .ctx.vtid"),
        (
            "shop:answer",
            "price > 3",
            "no selected event has a field 'price'; there are",
        ),
        ("*", "item > 3", r"its operators take \('item' is a string\)"),
        ("*", "price == 'x'", r"its operators take \('price' is an integer\)"),
        ("*", "price && status", "has all of the fields price, status"),
        ("*", "price &&", "filter 'price &&', column 9: expected a field"),
        ("*", "price + 1", "column 7: expected an operator of filters"),
        ("*", "1 << 64", ""),
    ],
)
def test_what_can_never_be_true_is_an_error(orders, pattern, expression, expected):
    """Which names what is missing, and what is like it."""
    if not expected:
        assert not list(orders.events(pattern, where=expression))
        return
    with pytest.raises(SelectionError, match=expected):
        orders.events(pattern, where=expression)


@pytest.mark.parametrize("wrong", [3, b"price", ["price"]])
def test_an_expression_is_text(orders, wrong):
    """Nothing else."""
    with pytest.raises(SelectionError, match="is no expression"):
        orders.events(where=wrong)


@pytest.mark.filterwarnings("ignore:no event matches")
def test_a_selection_without_events_takes_any_expression(orders):
    """Nothing was selected, so nothing can be missing."""
    assert not list(orders.events("nothing:*").events(where="prize > 3"))


def test_damage_is_the_same_under_a_filter(tmp_path):
    """Whatever bytes of a trace are changed."""
    source = random.Random(4)  # noqa: S311 - no secrets
    samples = write_samples(tmp_path / "trace", "little")
    data = next(p for p in (tmp_path / "trace").iterdir() if p.name != "metadata")
    good = data.read_bytes()
    expression = "number > 3 && text != 'b*' || list[1] == 7"
    seen = 0
    for _ in range(60):
        broken = bytearray(good)
        for _ in range(source.choice((1, 2, 8))):
            broken[source.randrange(len(broken))] = source.randrange(256)
        data.write_bytes(broken)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            whole, part = (vestige.open(data.parent, debug_info=False) for _ in "ab")
            events = [
                event.timestamp
                for event in whole
                if (event["number"] > 3 and not event["text"].startswith("b"))
                or (
                    (event["number"] <= 3 or event["text"].startswith("b"))
                    and len(event["list"]) > 1
                    and event["list"][1] == 7
                )
            ]
            assert [e.timestamp for e in part.events(where=expression)] == events
        seen += len(events)
        facts = [(one.kind, one.start, one.end) for one in whole.damage]
        assert [(one.kind, one.start, one.end) for one in part.damage] == facts
    assert 0 < seen < 60 * len(samples)


def test_code_that_nobody_compiled_is_refused_or_false(written):
    """Operations with arguments that lead anywhere end, and take nothing wrong."""
    trace, _ = written
    stream = trace.streams[0].handle
    source = random.Random(6)  # noqa: S311 - no secrets

    def run(code):
        compiled = RecordFilter([code])
        muxer = Muxer([(stream, None, None, None)], record_filters=[compiled])
        passed = sum(map(len, muxer))
        assert passed == 0 or compiled.possible(stream) == [True]
        return passed

    values = (0, 1, -1, 1 << 40, 0.5, b"number", b"text", b"list", b"", b"a\0b")
    passed = 0
    for _ in range(3000):
        code = [
            (
                source.choice(list(Operation)),
                source.choice((0, 1, 2, 5, 30, (1 << 32) - 1)),
                source.choice(values),
            )
            for _ in range(source.randrange(1, 12))
        ]
        code.append((Operation.RETURN, 0, 0))
        passed += run(code)
    good = [tuple(one) for one in compile_filter("number > 1 && text == 'b*' || real")]
    for _ in range(300):
        code = list(good)
        place = source.randrange(len(code))
        code[place] = (source.choice(list(Operation)), *code[place][1:])
        passed += run(code)
    with pytest.raises(ValueError, match="no operation 26"):
        RecordFilter([[(26, 0, 0)]])

    assert passed > 0
