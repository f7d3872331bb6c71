"""Decodes everything and shows nothing: ``sink.utils.dummy``."""

from __future__ import annotations

from ..._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ... import core

__all__ = ["DummySink", "make_dummy"]


class DummySink:
    """Has every field of every event record decoded, and drops it."""

    looks_at_records = False
    """The reader decodes all fields on the way; those that cannot be are damage."""

    def consume(self, merge: core.Merge) -> None:
        """Drop a merge: its fields were decoded when it was read."""

    def finish(self) -> None:
        """Do nothing: there is no output."""


def make_dummy(_spec: object, _resources: object, _streams: object) -> DummySink:
    """Make a sink."""
    return DummySink()
