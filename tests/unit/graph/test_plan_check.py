"""What is wrong with a plan, before anything is read."""

from __future__ import annotations

import pytest

from vestige.components.registry import Registry
from vestige.errors import GraphError
from vestige.graph.plan import ComponentSpec, Connection, Plan
from vestige.graph.plan_check import check_plan

PARTS = {
    "in": ComponentSpec("in", "source.ctf.fs", {"inputs": ["/nonexistent"]}),
    "mux": ComponentSpec("mux", "filter.utils.muxer"),
    "trim": ComponentSpec("trim", "filter.utils.trimmer", {"begin": 1}),
    "out": ComponentSpec("out", "sink.text.pretty"),
}


def plan(connections, **changes):
    """Return a plan of the parts above, with some of them changed."""
    parts = {**PARTS, **changes}
    found = [Connection.parse(text) for text in connections]
    names = {name for one in found for name in (one.upstream, one.downstream)}
    wanted = [part for name, part in parts.items() if name in names | {*changes}]
    return Plan(wanted, found)


PIPE = ["in:mux", "mux:trim", "trim:out"]


def test_a_pipe_is_right():
    """Nothing is opened to say so."""
    check_plan(plan(PIPE), Registry())


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (plan(["in:mux", "mux:trim"]), "'trim': its output port"),
        (plan(["in:mux", "trim:out", "mux:trim", "out:in"]), "the sink 'out' has no"),
        (plan(["in:mux", "mux:in"]), "the source 'in' has no input port"),
        (plan([*PIPE, "in:mux"]), "connection 'in:mux' is given twice"),
        (plan(["in:mux", "mux:away"]), "there is no component 'away'"),
        (plan(["in:mux", "mux:trim", "trim:mux", "trim:out"]), "closes a loop"),
        (plan(["trim:out", "mux:mux", "in:trim"]), "'mux:mux' closes a loop"),
        (plan(PIPE, spare=ComponentSpec("spare", "sink.utils.dummy")), "'spare': its"),
        (
            plan(PIPE, out=ComponentSpec("out", "sink.text.grand")),
            "component 'out': there is no class 'sink.text.grand'",
        ),
        (
            plan(PIPE, out=ComponentSpec("in", "sink.utils.dummy")),
            "two components called 'in'",
        ),
        (
            plan(PIPE, out=ComponentSpec("out", "sink.utils.counter", {"step": -1})),
            "the parameter 'step' is an integer of 0 or more, not -1",
        ),
        (
            plan(PIPE, out=ComponentSpec("out", "sink.text.pretty", {"size": 1})),
            "component 'out' (sink.text.pretty) has no parameter 'size'",
        ),
        (
            plan(PIPE, trim=ComponentSpec("trim", "filter.utils.trimmer", {"gmt": 1})),
            "the parameter 'gmt' is a boolean, not 1",
        ),
        (
            plan(
                PIPE, trim=ComponentSpec("trim", "filter.utils.trimmer", {"end": "x"})
            ),
            "component 'trim' (filter.utils.trimmer): 'x' is not a time",
        ),
        (
            plan(PIPE, **{"in": ComponentSpec("in", "source.ctf.fs")}),
            "component 'in' (source.ctf.fs): the parameter 'inputs' is missing",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_component(wrong, message):
    """And with its port, if that is what is wrong."""
    with pytest.raises(GraphError) as caught:
        check_plan(wrong, Registry())

    assert message in str(caught.value)
