"""Attributes: what a producer tells about a part of its trace (CTF2-SPEC-2.0, 5.2)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["no_attributes"]

_NOTHING: Mapping[str, object] = MappingProxyType({})


def no_attributes() -> Mapping[str, object]:
    """Return the attributes of what has none."""
    return _NOTHING
