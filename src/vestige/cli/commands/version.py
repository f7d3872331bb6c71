"""``vestige version``: which version this is."""

from __future__ import annotations

import argparse

from ... import __version__
from ..exit_statuses import PLAIN, READ

__all__ = ["VersionCommand"]


class VersionCommand:
    """Prints what ``--version`` prints."""

    name = "version"
    description = "Print the version of Vestige."
    examples = """\
examples:
  vestige version
"""
    exit_statuses = PLAIN

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add no options."""

    def run(self, options: argparse.Namespace) -> int:  # noqa: ARG002 - of all verbs
        """Print it."""
        print(f"vestige {__version__}")
        return READ
