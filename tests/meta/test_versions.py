"""The version stands in three files, and is the same in all of them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import vestige

ROOT = Path(__file__).resolve().parent.parent.parent


def manifest(name: str) -> dict[str, Any]:
    """Read a manifest."""
    return tomllib.loads((ROOT / name).read_text(encoding="utf-8"))


def test_the_manifests_agree() -> None:
    """A release changes all of them."""
    assert manifest("pyproject.toml")["project"]["version"] == vestige.__version__
    assert manifest("Cargo.toml")["workspace"]["package"]["version"] == (
        vestige.__version__
    )


def test_every_crate_takes_the_version_of_the_workspace() -> None:
    """There is nothing else to change."""
    for member in manifest("Cargo.toml")["workspace"]["members"]:
        version = manifest(f"{member}/Cargo.toml")["package"]["version"]
        assert version == {"workspace": True}, member
