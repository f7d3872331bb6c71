"""Places and names that are known again at the next call."""

from __future__ import annotations

from support.python_programs import events, place_of, record_python


def test_code_that_takes_the_place_of_other_code_has_its_own_lines(tmp_path):
    """Code objects go, and new ones come to the same address."""
    done = record_python(
        tmp_path,
        """\
        from vestige.instrument import tracepoint

        point = tracepoint("app:point", number=int)
        base = compile("point(number)", "base.py", "exec")
        before = same = 0
        for number in range(30):
            code = base.replace(co_filename=f"made{number}.py")
            exec(code)
            same += id(code) == before
            before = id(code)
            del code
        print(same > 0)
        """,
    )

    assert done.stdout == "True\n"
    assert [place_of(event) for event in events(tmp_path, "app:point")] == [
        f"made{number}.py:1" for number in range(30)
    ]


def test_one_tracepoint_may_be_called_from_many_lines(tmp_path):
    """In turn, by functions and generators."""
    record_python(
        tmp_path,
        """\
        from vestige.instrument import tracepoint

        point = tracepoint("app:point", number=int)

        def numbers():
            for number in range(3):
                point(number)
                yield number

        def tell(number):
            point(number); point(number)
            point(
                number,
            )

        for number in numbers():
            tell(number)
        """,
    )
    found = [place_of(event) for event in events(tmp_path, "app:point")]

    assert found == 3 * [f"program.py:{line}" for line in (7, 11, 11, 12)]


def test_names_hold_for_each_call(tmp_path):
    """Where the same ones are given in another order, in part, or behind other values."""
    record_python(
        tmp_path,
        """\
        from vestige.instrument import tracepoint

        point = tracepoint("app:point", first=int, second=int, third=int)

        for number in (1, 2):
            point(first=number, second=20, third=30)
            point(third=30, second=20, first=number)
            point(number, second=20, third=30)
            point(number, third=30, second=20)
            point(number, 20, 30)
            point(**{"first": number, "second": 20, "third": 30})
        """,
    )

    assert [event.payload.to_dict() for event in events(tmp_path, "app:point")] == [
        {"first": number, "second": 20, "third": 30}
        for number in (1, 2)
        for _ in range(6)
    ]


def test_values_of_spans_come_behind_their_own_fields(tmp_path):
    """With the same names in the same order, and otherwise; also beside a bare entry."""
    done = record_python(
        tmp_path,
        """\
        from vestige.instrument import span

        work = span("app:work", item=int, name=str)
        for number in (1, 2):
            with work(item=number, name="a"):
                pass
            with work(name="a", item=number):
                pass
            with work(number, "a"):
                pass
            with work(item=number):
                pass
            work.entry(item=number, name="a")
        """,
    )
    found = [
        (one["item"], one["name"], one["parent_id"])
        for one in (e.payload.to_dict() for e in events(tmp_path, "app:work_entry"))
    ]

    assert found == [
        (number, name, 0) for number in (1, 2) for name in ("a", "a", "a", "", "a")
    ]
    told = [line for line in done.stderr.splitlines() if "no value for" in line]
    assert [line.split("'")[1] for line in told] == [
        "name",
        "span_id",
        "parent_id",
        "task",
    ]


def test_the_texts_of_a_span_are_its_own(tmp_path):
    """The name of a task that is no text in UTF-8, and that of an exception's type."""
    record_python(
        tmp_path,
        """\
        import asyncio
        from vestige.instrument import span

        work = span("app:work")

        async def main():
            asyncio.current_task().set_name("task\\udc80")
            with work:
                raise KeyError

        try:
            asyncio.run(main())
        except KeyError:
            pass
        with work:
            pass
        """,
    )
    found = [event.payload.to_dict() for event in events(tmp_path, "app:work_*")]

    assert [(one["task"] if "task" in one else one["error"]) for one in found] == [
        "task\\udc80",
        "KeyError",
        "",
        "",
    ]
