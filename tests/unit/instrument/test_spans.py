"""Spans: pairs of events, with a parent and a task."""

from __future__ import annotations

import pytest

from support.python_programs import events, record_python
from vestige.instrument import span


def rows(directory, pattern="app:*"):
    """Return the spans: name, number of the parent's span, task and error, in order."""
    found: dict[int, list[object]] = {}
    for event in events(directory, pattern):
        fields = event.payload.to_dict()
        if event.name.endswith("_entry"):
            name = event.name.removeprefix("app:").removesuffix("_entry")
            row = [name, fields["parent_id"], fields["task"], None]
            assert found.setdefault(fields["span_id"], row) is row
        else:
            assert found[fields["span_id"]][3] is None
            found[fields["span_id"]][3] = fields["error"]
    names = {number: row[0] for number, row in found.items()}
    return [
        (row[0], names.get(row[1]), row[2], row[3]) for _, row in sorted(found.items())
    ]


def test_entry_and_exit_are_paired_under_asyncio(tmp_path):
    """Whatever order tasks end in; each has its own parent."""
    record_python(
        tmp_path,
        """\
        import asyncio
        from vestige.instrument import span
        work = span("app:work", item=int)
        part = span("app:part")
        whole = span("app:whole")

        async def one(number):
            with work(item=number):
                await asyncio.sleep(0.001 * (3 - number))
                with part:
                    await asyncio.sleep(0.001 * number)

        async def main():
            with whole:
                await asyncio.gather(*(one(number) for number in range(3)))

        asyncio.run(main())
        """,
    )
    found = sorted(rows(tmp_path))

    assert found == [
        *[("part", "work", f"Task-{number}", "") for number in (2, 3, 4)],
        ("whole", None, "Task-1", ""),
        *[("work", "whole", f"Task-{number}", "") for number in (2, 3, 4)],
    ]


def test_an_exit_says_which_exception_ended_it(tmp_path):
    """Of all that can end a span."""
    record_python(
        tmp_path,
        """\
        import asyncio
        from vestige.instrument import span

        @span("app:function")
        def function():
            raise KeyError(1)

        @span("app:task")
        async def task():
            await asyncio.sleep(10)

        @span("app:generator")
        def generator():
            yield 1

        def tried(function, *values):
            try:
                function(*values)
            except BaseException:
                pass

        async def main():
            running = asyncio.ensure_future(task())
            await asyncio.sleep(0)
            running.cancel()
            await running

        tried(function)
        tried(asyncio.run, main())
        closed = generator()
        next(closed)
        closed.close()
        list(generator())
        with span("app:plain"):
            pass
        """,
    )

    assert [(name, error) for name, _, _, error in rows(tmp_path)] == [
        ("function", "KeyError"),
        ("task", "CancelledError"),
        ("generator", "GeneratorExit"),
        ("generator", ""),
        ("plain", ""),
    ]


def test_parents_are_those_of_the_thread_or_the_context(tmp_path):
    """A thread begins anew; asyncio.to_thread takes its context along."""
    record_python(
        tmp_path,
        """\
        import asyncio, concurrent.futures, threading
        from vestige.instrument import span
        outer, inner = span("app:outer"), span("app:inner")

        def work():
            with inner:
                pass

        async def main():
            with outer:
                await asyncio.to_thread(work)

        with outer:
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
            with concurrent.futures.ThreadPoolExecutor() as pool:
                pool.submit(work).result()
            work()
        asyncio.run(main())
        """,
    )

    assert [row[:3] for row in rows(tmp_path)] == [
        ("outer", None, ""),
        ("inner", None, ""),
        ("inner", None, ""),
        ("inner", "outer", ""),
        ("outer", None, "Task-1"),
        ("inner", "outer", ""),
    ]


def test_a_generator_that_waits_is_no_parent(tmp_path):
    """Of what its caller does meanwhile; of what it does itself, it is."""
    done = record_python(
        tmp_path,
        """\
        import asyncio
        from vestige.instrument import span
        inner, outer = span("app:inner"), span("app:outer")

        @span("app:numbers")
        def numbers():
            with inner:
                got = yield 1
            try:
                yield got
            except ValueError as error:
                yield repr(error)
            return "end"

        @span("app:later")
        async def later():
            with inner:
                yield 1
            yield 2

        def use():
            end = yield from numbers()
            print(end)

        def main():
            generator = use()
            items = [next(generator)]
            with outer:
                items += [generator.send(5), generator.throw(ValueError("x"))]
            print(items, list(generator))

        async def amain():
            async for item in later():
                with outer:
                    print(item)

        main()
        asyncio.run(amain())
        with outer:
            pass
        """,
    )

    assert done.stdout == "end\n[1, 5, \"ValueError('x')\"] []\n1\n2\n"
    assert [row[:2] for row in rows(tmp_path)] == [
        ("numbers", None),
        ("inner", "numbers"),
        ("outer", None),
        ("later", None),
        ("inner", "later"),
        ("outer", None),
        ("outer", None),
        ("outer", None),
    ]


def test_spans_may_end_in_any_order(tmp_path):
    """One that ends first is not the parent of what begins later."""
    record_python(
        tmp_path,
        """\
        from vestige.instrument import span
        a, b, c = span("app:a"), span("app:b"), span("app:c")
        a.__enter__()
        b.__enter__()
        a.__exit__(None, None, None)
        with c:
            pass
        b.__exit__(None, None, None)
        with c:
            pass
        many = [span("app:many")() for _ in range(3000)]
        for one in many:
            one.__enter__()
        for one in many:
            one.__exit__(None, None, None)
        with c:
            pass
        """,
    )
    found = [row[:2] for row in rows(tmp_path) if row[0] != "many"]

    assert found == [
        ("a", None),
        ("b", "a"),
        ("c", "b"),
        ("c", None),
        ("c", None),
    ]


def test_fields_are_bound_to_parameters_of_the_same_names(tmp_path):
    """By place, by name and by default."""
    done = record_python(
        tmp_path,
        """\
        from vestige.instrument import span

        class Shop:
            @span("app:sell", price=int, item=str)
            def sell(self, item, price=7, *, note=""):
                return item

        @span("app:read", n=int)
        def read(first, /, *, n=3):
            yield n

        @span("app:fixed", n=int)(n=9)
        def fixed():
            pass

        shop = Shop()
        shop.sell("pen", 5)
        shop.sell(price=6, item="cup")
        shop.sell("tea")
        list(read(1))
        list(read(1, n=4))
        fixed()
        try:
            shop.sell()
        except TypeError as error:
            print(error)
        """,
        "-q",
    )

    assert done.stdout == "Shop.sell() missing 1 required positional argument: 'item'\n"
    assert done.stderr == ""
    sold = [
        (event["item"], event["price"]) for event in events(tmp_path, "app:sell_entry")
    ]
    assert sold == [("pen", 5), ("cup", 6), ("tea", 7)]
    assert [event["n"] for event in events(tmp_path, "app:read_entry")] == [3, 4]
    assert [event["n"] for event in events(tmp_path, "app:fixed_entry")] == [9]


def test_a_field_that_is_no_parameter_is_refused():
    """When the function is decorated, with or without a recorder."""
    with pytest.raises(
        ValueError, match=r"app:bound: no parameter of .*read\(\) has the name 'size'"
    ):

        @span("app:bound", size=int)
        def read(count):
            return count

    with pytest.raises(ValueError, match="a field 'task' of its own"):
        span("app:own", task=str)
