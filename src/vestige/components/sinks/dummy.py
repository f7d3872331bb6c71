"""Decodes everything and shows nothing: ``sink.utils.dummy``."""

from __future__ import annotations

from ... import core

__all__ = ["DummySink"]


class DummySink:
    """Decodes every field of every event record and drops it."""

    def consume(self, merge: core.Merge) -> None:
        """Decode a merge.

        Args:
            merge: The next merge.

        Raises:
            TraceFormatError: A field cannot be decoded.
        """
        merge.validate()

    def finish(self) -> None:
        """Do nothing: there is no output."""
