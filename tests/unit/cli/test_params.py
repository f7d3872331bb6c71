"""The language of `--params`."""

from __future__ import annotations

import pytest

from vestige.cli.main import main
from vestige.cli.params import parse_params
from vestige.errors import CommandError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=null, b=NULL, c=nul", {"a": None, "b": None, "c": None}),
        ("a=yes,b=TRUE,c=no,d=FALSE", {"a": True, "b": True, "c": False, "d": False}),
        ("a=12, b=0x1F, c=017, d=0b101", {"a": 12, "b": 31, "c": 15, "d": 5}),
        ("a=-12, b=- 0x10, c=+5", {"a": -12, "b": -16, "c": 5}),
        ("a=-9223372036854775808", {"a": -(2**63)}),
        ("a=1.5, b=-2.5e3, c=2e-1", {"a": 1.5, "b": -2500.0, "c": 0.2}),
        (
            r'a="say \"hi\"\n", b=bare-word.x:y',
            {"a": 'say "hi"\n', "b": "bare-word.x:y"},
        ),
        ('a=["x", 2, [yes],], b=[]', {"a": ["x", 2, [True]], "b": []}),
        ("a={x=1, y={z=no},}, b={}", {"a": {"x": 1, "y": {"z": False}}, "b": {}}),
        ("field-trace:vpid=no", {"field-trace:vpid": False}),
        ("a=1, a=2", {"a": 2}),
        ("\t a \n= 1", {"a": 1}),
    ],
)
def test_every_kind_of_value(text, expected):
    """Null, booleans, integers, reals, strings, arrays and maps."""
    assert parse_params(text) == expected


@pytest.mark.parametrize(
    ("text", "expected", "at"),
    [
        ("", "a parameter's name", 1),
        ("a", "'='", 2),
        ("a=", "a value", 3),
        ("a=1,", "a parameter's name", 5),
        ("a=1 b=2", "','", 5),
        ('"a"=1', "a parameter's name", 1),
        ("a=[1 2]", "']'", 6),
        ("a={1=2}", "a name in the map", 4),
        ("a={b:2}", "'='", 7),
        ('a="open', "a name or a value", 3),
        ("a=-x", "a value", 3),
        ("a=089", "an octal integer after the 0", 3),
        ("a=9223372036854775808", "an integer of 64 bits", 3),
        ("a=" + "[" * 100, "at most 64 nested values", 68),
        ("a=$1", "a name or a value", 3),
    ],
)
def test_an_error_tells_what_was_expected_and_where(text, expected, at):
    """With a mark below the character."""
    with pytest.raises(CommandError) as caught:
        parse_params(text)

    assert caught.value.exit_code == 2
    first, shown, mark = str(caught.value).split("\n")
    assert first == f"--params: expected {expected} at character {at}"
    assert (shown, mark.index("^")) == (f"    {text}", at + 3)


def test_the_mark_stands_below_the_character_for_people_too(capfd):
    """Line feeds that are meant are no escapes; control characters are."""
    words = ["-c", "a:source.ctf.fs", "-p", 'a=["\x1b', "-c", "b:sink.utils.dummy"]
    assert main(["run", *words, "-x", "a:b"]) == 2

    first, *shown = capfd.readouterr().err.splitlines()
    assert first.startswith("vestige: error: --params: expected ")
    assert shown == ['    a=["\\e', "       ^"]
