"""The verbs of the command line, one module each."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from .protocol import Command

__all__ = ["VERBS", "Command", "load_commands"]

VERBS = {
    "record": "RecordCommand",
    "list": "ListCommand",
    "view": "ViewCommand",
    "convert": "ConvertCommand",
    "check": "CheckCommand",
    "repair": "RepairCommand",
    "export": "ExportCommand",
    "report": "ReportCommand",
    "debuginfo": "DebuginfoCommand",
    "symbolize": "SymbolizeCommand",
    "config": "ConfigCommand",
    "gen-tp": "GenTpCommand",
    "demo": "DemoCommand",
}
"""The class of each verb, in the order of the help; modules have ``_`` for ``-``."""


def load_commands(words: Sequence[str]) -> list[Command]:
    """Import the verb that a command line starts with, or all of them.

    Importing all costs more time than reading a small trace.

    Args:
        words: The command line.

    Returns:
        The commands that its parser needs.
    """
    # One of them is called as the type of Python is, which it hides here.
    verbs = words[:1] if words and words[0] in VERBS else [*VERBS]
    return [_load(verb) for verb in verbs]


def _load(verb: str) -> Command:
    module = import_module(f".{verb.replace('-', '_')}", __name__)
    command: Command = getattr(module, VERBS[verb])()
    return command
