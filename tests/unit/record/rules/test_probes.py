"""Probes as people write them."""

from __future__ import annotations

import pytest

from vestige.errors import SelectionError
from vestige.record import RecordingOptions
from vestige.record.rules.probes import (
    ProbeType,
    ProbeValue,
    event_names,
    parse_probe,
    parse_probes,
)


def test_values_are_names_places_and_the_result():
    """With types where people give them."""
    probe = parse_probe("libx.so.*:step( stmt , size:u16, rdi:ptr, $return:int)")
    assert probe.object == "libx.so.*"
    assert probe.function == "step"
    assert probe.values == (
        ProbeValue("stmt"),
        ProbeValue("size", "", ProbeType("uint", 2)),
        ProbeValue("rdi", "rdi", ProbeType("ptr", 8)),
    )
    assert probe.result == ProbeValue("return", "", ProbeType("int", 4), is_result=True)
    assert [*event_names(probe)] == ["step", "step_return"]


@pytest.mark.parametrize(
    ("text", "function", "event", "values"),
    [
        ("f", "f", "f", None),
        ("f()", "f", "f", ()),
        ("f( )", "f", "f", ()),
        ("shop::Cart::add", "shop::Cart::add", "shop_Cart_add", None),
        ("f.part.0()", "f.part.0", "f_part_0", ()),
    ],
)
def test_names_may_be_qualified_and_lists_left_out(text, function, event, values):
    """Two colons name no object; events have names that any reader takes."""
    probe = parse_probe(text)
    assert (probe.function, probe.event, probe.values) == (function, event, values)
    assert probe.object == ""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "expected "),
        ("f(", "expected "),
        ("f(a))", "expected "),
        ("f(a,)", "expected the name of a parameter"),
        ("f(1a)", "expected the name of a parameter"),
        (f"f({'a' * 64})", "expected the name of a parameter"),
        ("f(rdi:)", "no type ''"),
        ("f(stack+7:int)", "expected a multiple of 8"),
        ("f(xmm0:int)", "expected float or double"),
        ("f(rdi:float)", "expected no float"),
        ("f(rsp:ptr)", "rsp cannot be recorded"),
        (f"f({', '.join(f'a{n}' for n in range(17))})", "up to 16 values"),
        ("::()", "expected the name of a function"),
    ],
)
def test_what_is_no_probe_is_refused(text, reason):
    """With what was expected."""
    with pytest.raises(SelectionError, match=reason):
        parse_probe(text)


def test_each_event_has_one_probe():
    """Otherwise nobody could tell them apart."""
    with pytest.raises(SelectionError, match="both make vestige_probe:f_return"):
        parse_probes(["f($return)", "f_return()"])
    with pytest.raises(SelectionError, match="up to 256"):
        parse_probes(["f()"] * 257)


def test_probes_are_recorded_unless_a_rule_speaks_of_them():
    """As what other options switch on."""
    options = RecordingOptions(probes=("f($return)",), events=("app:*",))
    assert {rule.glob for rule in options.rules()} == {
        "app:*",
        "vestige_probe:f",
        "vestige_probe:f_return",
    }
    options = RecordingOptions(probes=("f($return)",), events=("vestige_probe:f",))
    assert {rule.glob for rule in options.rules()} == {
        "vestige_probe:f",
        "vestige_probe:f_return",
    }
    assert RecordingOptions(probes=("f",)).rules() == ()
