"""Which modules of a crate use each other in a circle: what `make lint` refuses."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

import check_rust  # noqa: E402


@pytest.fixture
def told(tmp_path):
    """What is said of a crate of these files."""

    def tell(files):
        for name, text in files.items():
            path = tmp_path / "vestige-x/src" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return [*check_rust.complaints(tmp_path / "vestige-x/src")]

    return tell


def test_arrows_that_point_one_way(told):
    """Uses, paths in the code and names that are exported again make no circle."""
    files = {
        "lib.rs": "mod a;\nmod b;\npub use a::one;\n",
        "a.rs": "use crate::b::{deep::Thing, other as another};\npub fn one() {}\n",
        "b/mod.rs": "pub mod deep;\npub use deep::Thing;\n",
        "b/deep.rs": (
            "use std::fmt;\n// use crate::a::one;\npub struct Thing;\n"
            "#[cfg(test)]\nmod tests {\n    use crate::a::one;\n}\n"
        ),
    }
    assert told(files) == []


@pytest.mark.parametrize(
    "back",
    [
        "use crate::a::one;\n",
        "use crate::{c::two, a::{self}};\n",
        "use super::super::a::one;\n",
        "fn two() { crate::a::one() }\n",
        "use crate::one;\n",
    ],
)
def test_a_circle(told, back):
    """Between a module and a folder, in whatever words."""
    files = {
        "lib.rs": "mod a;\nmod b;\npub use a::one;\n",
        "a.rs": "use crate::b::deep::Thing;\npub fn one() {}\n",
        "b/mod.rs": "pub mod deep;\n",
        "b/deep.rs": back + "pub struct Thing;\n",
        "c.rs": "pub fn two() {}\n",
    }
    assert told(files) == [
        "vestige-x: modules use each other in a circle:\n  a -> b\n  b -> a"
    ]


def test_a_circle_inside_of_a_folder(told):
    """It is one of that folder."""
    files = {
        "lib.rs": "mod b;\n",
        "b/mod.rs": "mod one;\nmod two;\n",
        "b/one.rs": "use super::two::Two;\n",
        "b/two.rs": "use super::one::One;\n",
    }
    [complaint] = told(files)
    assert complaint.startswith("vestige-x/b: ")


def test_a_circle_that_is_allowed(told, monkeypatch):
    """As long as it is there, and is no larger."""
    circle = (check_rust.names("a b"), "they are one")
    monkeypatch.setattr(check_rust, "ALLOWED", {"vestige-x": (circle,)})
    files = {"a.rs": "use crate::b::B;\n", "b.rs": "use crate::a::A;\n"}

    assert told(files) == []
    [complaint] = told({"b.rs": ""})
    assert complaint == "vestige-x: a circle is allowed that there is not: a, b"
    grown = {"b.rs": "use crate::c::C;\n", "c.rs": "use crate::a::A;\n"}
    assert "c -> a" in told(grown)[0]
