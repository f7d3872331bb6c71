"""Contexts of Python programs."""

from __future__ import annotations

import pytest

from support.python_programs import SOURCES, events, interpreters, record_python
from vestige.instrument import context

PROGRAM = """\
    import asyncio, threading
    from vestige.instrument import context, tracepoint
    user, size = context("shop:user"), context("shop:size")
    step = tracepoint("app:step", number=int)
    assert context("shop:user") is user
    step(0)
    with user("ada") as same:
        assert same is user and user.value == "ada"
        size.set(2.5)
        step(1)
        with user("b\\u00e9la" + "x" * 300):
            step(2)
        step(3)
    size.set(7)
    step(4)
    thread = threading.Thread(target=step, args=(5,))
    thread.start()
    thread.join()

    async def serve(name, first, turns):
        with user(name):
            step(first)
            turns[0].set()
            await turns[1].wait()
            step(first + 1)

    async def both():
        turns = [asyncio.Event(), asyncio.Event()]
        await asyncio.gather(
            serve("one", 6, turns), serve("two", 8, turns[::-1])
        )

    asyncio.run(both())
    user.set("zero\\0ed")
    step(10)
    user.set("\\ud800")
    step(11)
    user.set(None)
    size.set(True)
    step(12)
"""
LONG = "b\u00e9la" + "x" * 250
EXPECTED = {
    0: (None, None),
    1: ("ada", 2.5),
    2: (LONG, 2.5),
    3: ("ada", 2.5),
    4: (None, 7),
    5: (None, None),
    6: ("one", 7),
    7: ("one", 7),
    8: ("two", 7),
    9: ("two", 7),
    10: ("zero", 7),
    11: (None, 7),
    12: (None, 1),
}


@pytest.fixture(params=interpreters())
def interpreter(request):
    """Return the path of a Python."""
    return (request.param,)


def test_each_thread_and_task_has_its_own(tmp_path, interpreter, monkeypatch):
    """Values are texts, numbers or nothing."""
    monkeypatch.setenv("PYTHONPATH", str(SOURCES))
    options = ["-q", "-e", "app:*", "-c", "$app.shop:user,$app.shop:size"]
    done = record_python(tmp_path, PROGRAM, *options, interpreter=interpreter)
    found = {
        event["number"]: (
            event["_app_shop_user"] or None,
            event["_app_shop_size"] or None,
        )
        for event in events(tmp_path, "app:*")
    }

    assert (done.returncode, done.stderr) == (0, "")
    assert found == EXPECTED


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('$app.shop:user == "ada"', [1, 3]),
        ("$app.shop:size == 2.5", [1, 2, 3]),
        ('$app.shop:size == 1 || $app.shop:user == "two"', [8, 9, 12]),
        ("number == 5 || $app.shop:other == 1", [5]),
    ],
)
def test_filters_ask_for_them(tmp_path, expression, expected):
    """As for those of programs in C."""
    options = ["-q", "-e", "app:*", "--filter", expression]
    record_python(tmp_path, PROGRAM, *options)

    assert sorted(one["number"] for one in events(tmp_path, "app:*")) == expected


def test_a_task_has_its_own_in_calls_of_functions(tmp_path):
    """Also where tasks take turns and nothing but functions is recorded."""
    program = """\
        import asyncio
        from vestige.instrument import context
        user = context("shop:user")

        def work():
            pass

        async def serve(name):
            user.set(name)
            for _ in range(3):
                work()
                await asyncio.sleep(0)

        async def both():
            await asyncio.gather(serve("one"), serve("two"))

        asyncio.run(both())
    """
    record_python(tmp_path, program, "-q", "-c", "ip,vpid,$app.shop:user")
    found = [
        event["_app_shop_user"]
        for event in events(tmp_path, "*:func_entry")
        if event.debug_info is not None and event.debug_info.function == "work"
    ]

    assert found == ["one", "two"] * 3


@pytest.mark.parametrize("value", [[], b"ada", 1j, object()])
def test_other_types_are_refused(value):
    """Also where nothing is recorded: a program behaves as with a recorder."""
    user = context("test:refused")
    with pytest.raises(
        TypeError, match=r"\$app.test:refused: expected str, int, float"
    ):
        user.set(value)
    with pytest.raises(TypeError, match="expected"):
        user(value)

    assert user.value is None


@pytest.mark.parametrize("value", [1 << 63, -(1 << 63) - 1])
def test_numbers_have_64_bits(value):
    """Larger ones are refused."""
    with pytest.raises(OverflowError, match="more than 64 bits"):
        context("test:large").set(value)


@pytest.mark.parametrize(
    "name", ["", "user", ":user", "shop:", "a b:c", "s:" + "x" * 249]
)
def test_names_have_two_parts(name):
    """And are not too long."""
    with pytest.raises(ValueError, match="names no context: expected PROVIDER:TYPE"):
        context(name)


def test_what_it_is_can_be_seen():
    """For people who look at a program."""
    user = context("test:seen")
    with user("ada"):
        assert repr(user) == "<context $app.test:seen: 'ada'>"
    assert (user.name, user.value) == ("test:seen", None)
