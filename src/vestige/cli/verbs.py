"""The verbs of the command line, of which each is imported when it is wanted."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from .._typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .command import Command

__all__ = ["VERBS", "Verb", "load_commands"]


class Verb(NamedTuple):
    """A verb that need not be imported to be listed."""

    class_name: str
    """The class in its module."""
    summary: str
    """Half a line for the list of verbs."""


VERBS = {
    "record": Verb("RecordCommand", "run a program and record it"),
    "snapshot": Verb("SnapshotCommand", "copy what a recording keeps, which goes on"),
    "list": Verb("ListCommand", "list the tracepoints and functions of a program"),
    "view": Verb("ViewCommand", "show the events of a trace, with source lines"),
    "open": Verb("OpenCommand", "look at a trace in a browser"),
    "report": Verb("ReportCommand", "show which functions took the time"),
    "export": Verb("ExportCommand", "write events to Parquet, Arrow, CSV or JSON"),
    "convert": Verb("ConvertCommand", "print the text of 'babeltrace2 convert'"),
    "run": Verb("RunCommand", "run components, connected as 'babeltrace2 run' does"),
    "query": Verb("QueryCommand", "ask a component class, as 'babeltrace2 query' does"),
    "list-plugins": Verb("ListPluginsCommand", "list the component classes"),
    "check": Verb("CheckCommand", "read everything and say what is damaged"),
    "repair": Verb("RepairCommand", "write a valid trace of what is left of one"),
    "debuginfo": Verb("DebuginfoCommand", "show which files gave the names"),
    "symbolize": Verb("SymbolizeCommand", "show function and line of addresses"),
    "config": Verb("ConfigCommand", "print flags for compiling tracepoints"),
    "gen-tp": Verb("GenTpCommand", "make a tracepoint provider from a template"),
    "lttng": Verb("LttngCommand", "control recording sessions as 'lttng' does"),
    "top": Verb("TopCommand", "show what sessions and programs record now"),
    "lttng-crash": Verb(
        "LttngCrashCommand", "recover a session's trace from its ring buffers"
    ),
    "commands": Verb("CommandsCommand", "install the names of other programs"),
    "demo": Verb("DemoCommand", "record a small program and show its events"),
    "completion": Verb("CompletionCommand", "print a completion script for a shell"),
    "help": Verb("HelpCommand", "describe a command"),
    "version": Verb("VersionCommand", "print the version"),
}
"""The verbs, in the order of the help; modules have ``_`` for ``-``."""


def load_commands(words: Sequence[str]) -> list[Command]:
    """Import the verb that a command line starts with, or all of them.

    Importing all costs more time than reading a small trace.

    Args:
        words: The command line; none for all verbs.

    Returns:
        The commands that its parser needs.
    """
    # One of them is called as the type of Python is, which it hides here.
    verbs = [word for word in words[:1] if word in VERBS] if words else [*VERBS]
    return [_load(verb) for verb in verbs]


def _load(verb: str) -> Command:
    module = import_module(f".commands.{verb.replace('-', '_')}", __package__)
    command: Command = getattr(module, VERBS[verb].class_name)()
    return command
