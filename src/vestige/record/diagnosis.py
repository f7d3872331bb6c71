"""Why a recording has no function calls."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from .events import ALWAYS_RECORDED, level_of
from .options import RecordingOptions
from .program_file import Hooks, find_program, hooks_of, why_untraceable
from .recording_summary import Contents

__all__ = ["why_without_calls"]

PYTHON = re.compile(r"(lib)?python3")
HOW_TO_COMPILE = "compile with 'gcc -g -finstrument-functions'"


def why_without_calls(
    command: Sequence[str], options: RecordingOptions, contents: Contents
) -> str | None:
    """Say why a recording has no function calls.

    Args:
        command: The program and its arguments.
        options: What was asked for.
        contents: What the recording holds.

    Returns:
        The reason, for people; ``None`` when there are calls, or nobody wanted them.
    """
    if contents.has_calls:
        return None
    if contents.events == 0:
        return f"nothing was recorded: {_why_without_tracer(command)}"
    if options.helpers and options.functions is None and not options.events:
        # Calls of other functions were wanted.
        return None
    is_asked_for = options.functions or options.include or options.exclude
    if contents.has_chosen and not is_asked_for:
        # Tracepoints are what the program is about.
        return None
    chosen = options.selection()
    if chosen.entries == chosen.exits == "off":
        return None if contents.has_chosen else _why_without_events(options)
    return f"no function calls: {_why_without_hooks(options, contents.objects)}"


def _why_without_tracer(command: Sequence[str]) -> str:
    if "VESTIGE_TRACER_OFF" in os.environ:
        return "VESTIGE_TRACER_OFF is set"
    program = find_program(command[0], os.environ.get("PATH"))
    reason = why_untraceable(program) if program is not None else None
    return reason or (
        "the tracer did not begin, as when a program removes LD_PRELOAD or "
        "VESTIGE_TRACER from its environment"
    )


def _why_without_events(options: RecordingOptions) -> str | None:
    rules = options.rules()
    if not rules or any(
        rule.takes_name(name, level_of(name))
        for rule in rules
        for name in ALWAYS_RECORDED
    ):
        return None
    names = _shortened([f"'{rule.text}'" for rule in rules])
    if all(rule.is_logger for rule in rules):
        return (
            f"no event but the state dump: no record of the log meets {names}; loggers "
            "leave out what is below their own level"
        )
    return f"no event but the state dump: no tracepoint was hit that meets {names}"


def _why_without_hooks(options: RecordingOptions, objects: Sequence[str]) -> str:
    found = {path: hooks_of(Path(path)) for path in objects if path.startswith("/")}
    defining = [path for path, hooks in found.items() if hooks is Hooks.DEFINED]
    calling = [path for path, hooks in found.items() if hooks is Hooks.CALLED]
    if defining:
        return (
            f"{_names(defining)} has hooks of its own (__cyg_profile_func_enter), "
            "which come before those of the tracer"
        )
    if not calling:
        if any(PYTHON.match(Path(path).name) for path in found):
            return "--python-functions records those of Python programs"
        names = _names([path for path in found if ".so" not in Path(path).name])
        return f"nothing in {names or 'the program'} is instrumented; {HOW_TO_COMPILE}"
    if options.include or options.exclude:
        return (
            f"no call in {_names(calling)} passed --include-function and "
            "--exclude-function; names are those of the symbol table, see 'nm', or for "
            "C++ qualified names"
        )
    return f"no function of {_names(calling)} was called that is instrumented"


def _names(paths: Sequence[str]) -> str:
    """Return the names of a few files."""
    return _shortened([Path(path).name for path in paths])


def _shortened(texts: Sequence[str]) -> str:
    """Return a few texts, each once."""
    shown = 3
    names = list(dict.fromkeys(texts))
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more
