"""What a verb of the command line offers."""

from __future__ import annotations

import argparse

from .._typing import Protocol
from .exit_statuses import ExitStatuses

__all__ = ["Command"]


class Command(Protocol):
    """A verb."""

    @property
    def name(self) -> str:
        """The word that chooses it."""

    @property
    def description(self) -> str:
        """A paragraph for its own help."""

    @property
    def examples(self) -> str:
        """Examples for its own help."""

    @property
    def exit_statuses(self) -> ExitStatuses:
        """What its exit statuses say."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add its options to a parser."""

    def run(self, options: argparse.Namespace) -> int:
        """Run it; return the exit status."""
