"""Plugins that are asked for by their paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from vestige.compat import bt2

PLUGIN = """
import bt2

bt2.register_plugin(__name__, "{name}", "What it does.", "Ann", "MIT", (1, 2, 3, "rc"))

@bt2.plugin_component_class
class Sink(bt2._UserSinkComponent):
    def _user_consume(self): ...
"""


def test_plugins_in_a_path(tmp_path: Path) -> None:
    """A file is one; in folders they are looked for."""
    deep = tmp_path / "deep"
    deep.mkdir()
    first = tmp_path / "bt_plugin_first.py"
    first.write_text(PLUGIN.format(name="first"))
    (deep / "bt_plugin_second.py").write_text(PLUGIN.format(name="second"))

    [plugin] = bt2.find_plugins_in_path(str(first))
    assert (plugin.name, plugin.description) == ("first", "What it does.")
    assert (plugin.author, plugin.license, plugin.path) == ("Ann", "MIT", str(first))
    assert (plugin.version.patch, plugin.version.extra) == (3, "rc")
    assert plugin.sink_component_classes["Sink"].name == "Sink"
    assert not plugin.source_component_classes
    found = bt2.find_plugins_in_path(str(tmp_path))
    assert [one.name for one in found] == ["first", "second"]
    assert len(bt2.find_plugins_in_path(str(tmp_path), recurse=False)) == 1


def test_what_is_no_plugin(tmp_path: Path) -> None:
    """Nothing is found, or it is an error if that is wanted."""
    assert bt2.find_plugins_in_path(str(tmp_path)) is None
    with pytest.raises(ValueError, match="invalid path"):
        bt2.find_plugins_in_path(str(tmp_path / "missing"))
    broken = tmp_path / "bt_plugin_broken.py"
    broken.write_text("1 / 0")
    assert bt2.find_plugins_in_path(str(broken)) is None
    with pytest.raises(bt2._Error, match="ZeroDivisionError"):
        bt2.find_plugins_in_path(str(broken), fail_on_load_error=True)
