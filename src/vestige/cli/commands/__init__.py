"""The verbs of the command line, one module each."""

from __future__ import annotations

from . import convert, demo, view
from .protocol import Command

__all__ = ["COMMANDS", "Command"]

COMMANDS: tuple[Command, ...] = (
    view.ViewCommand(),
    convert.ConvertCommand(),
    demo.DemoCommand(),
)
"""All verbs, in the order of ``vestige --help``."""
