"""Questions to component classes, and the plugins that they are in."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.ctf_writer import Packet, Trace, numbered, write_trace
from vestige.compat import bt2


@pytest.fixture
def source():
    """Return the class that reads CTF."""
    return bt2.find_plugin("ctf").source_component_classes["fs"]


def test_an_answer_is_a_value(tmp_path: Path, source) -> None:
    """That can be read."""
    data = {"one": Packet(numbered(3)).encode()}
    trace = write_trace(tmp_path / "t", Trace().metadata(), data)

    infos = bt2.QueryExecutor(
        source, "babeltrace.trace-infos", {"inputs": [str(trace)]}
    ).query()

    assert type(infos) is bt2._ArrayValueConst
    assert infos[0]["stream-infos"][0]["range-ns"]["begin"] == 1_000_000


def test_what_fails(tmp_path: Path, source) -> None:
    """Has causes; what is not known is another error."""
    ask = bt2.QueryExecutor(source, "metadata-info", {"path": str(tmp_path / "no")})
    with pytest.raises(bt2._Error) as error:
        ask.query()
    assert error.value[0].component_class_name == "fs"
    with pytest.raises(bt2.UnknownObject):
        bt2.QueryExecutor(source, "the time").query()
    with pytest.raises(TypeError, match="is not a component class object"):
        bt2.QueryExecutor(int, "the time")
    with pytest.raises(ValueError, match="cannot pass a Python object"):
        bt2.QueryExecutor(source, "the time", method_obj=1)


def test_plugins_have_their_classes(source) -> None:
    """By kind and name."""
    plugins = {one.name: one for one in bt2.find_plugins()}

    assert {"ctf", "utils", "text", "lttng-utils"} <= plugins.keys()
    assert plugins["ctf"].source_component_classes["fs"] == source
    assert "muxer" in plugins["utils"].filter_component_classes
    assert "pretty" in plugins["text"].sink_component_classes
    assert bt2.find_plugin("none") is None
    with pytest.raises(KeyError):
        plugins["utils"].filter_component_classes["pretty"]
