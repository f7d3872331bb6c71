"""What client and daemon write and read is what the library writes and reads."""

from __future__ import annotations

import importlib
import json
import math
import sys

import pytest

from vestige.daemon import json_text

VALUES = [
    *(None, True, False, 0, -1, 1 << 70, 1.5, 1e300, float("inf"), -float("inf")),
    *("", "text", 'a"\\\n\0', "\u20ac \ud800 \U0001f600"),
    *([], {}, [[1, [2]], {}], {"a": {"b": [True, None]}, "": 1}),
]
NO_JSON = [b"", b" ", b"{", b"[1] x", b"[1][2]", b'{"a":}', b"nul", b"'a'", b"\xff"]
NO_JSON += [b'"\n"', b"{1:2}", b"[1,]"]


@pytest.fixture(params=["quick", "library"])
def module(request, monkeypatch):
    """The module, also of a Python that lacks the quick way."""
    if request.param == "library":
        monkeypatch.setitem(sys.modules, "_json", None)
    yield importlib.reload(json_text)
    monkeypatch.undo()
    importlib.reload(json_text)


@pytest.mark.parametrize("value", VALUES)
def test_values_are_written_and_read(module, value):
    """As the library does it, without spaces."""
    raw = module.write_json(value)
    assert raw == json.dumps(value, separators=(",", ":")).encode()
    assert module.read_json(b" " + raw + b"\n") == value


def test_what_is_no_number_stays_that(module):
    """Programs have such values, and captures are of any value."""
    assert math.isnan(module.read_json(module.write_json(float("nan"))))
    assert module.write_json(float("nan")) == b"NaN"


@pytest.mark.parametrize("raw", NO_JSON)
def test_what_is_no_json_is_refused(module, raw):
    """With the error that the library has for it."""
    with pytest.raises(ValueError):  # noqa: PT011 - of any text
        module.read_json(raw)


def test_what_is_too_deep_is_refused(module):
    """Who sends it ends no daemon."""
    with pytest.raises(RecursionError):
        module.read_json(b"[" * 200_000)


def test_what_json_cannot_say_is_refused(module):
    """As the library does."""
    with pytest.raises(TypeError):
        module.write_json({"a": object()})
