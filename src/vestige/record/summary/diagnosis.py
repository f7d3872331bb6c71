"""Why a recording has no function calls."""

from __future__ import annotations

import os

from ..._typing import TYPE_CHECKING
from ...inspect.hooks import hooks_of
from ...inspect.programs import find_program
from ...inspect.python_detection import has_python
from ..rules.events import ALWAYS_RECORDED, level_of
from ..rules.options import RecordingOptions
from .contents import Contents

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["why_without_calls"]

HOW_TO_COMPILE = (
    "record it as it is with --patch, compile with 'gcc -g -finstrument-functions'"
)
WITHOUT_COMPILER = (
    "record calls of the C library with --libc, --pthread and --dl, which need no "
    "compiler"
)


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
    has_others = options.helpers or options.probes
    if has_others and options.functions is None and not options.events:
        # Calls of other functions were wanted.
        return None
    is_asked_for = options.functions or options.include or options.exclude
    if contents.has_chosen and not is_asked_for:
        # Tracepoints are what the program is about.
        return None
    chosen = options.library_selection()
    if chosen.entries == chosen.exits == "off":
        return _why_without_events(command, options, contents)
    reason = _why_without_hooks(command, options, contents.objects)
    return f"no function calls: {reason}"


def _why_without_tracer(command: Sequence[str]) -> str:
    if "VESTIGE_TRACER_OFF" in os.environ:
        return "VESTIGE_TRACER_OFF is set"
    # Most recordings have some event.
    from ...inspect.program_file import why_untraceable  # noqa: PLC0415 - see above

    program = find_program(command[0], os.environ.get("PATH"))
    reason = why_untraceable(program) if program is not None else None
    return reason or (
        "the tracer did not begin, as when the dynamic linker does not find a library, "
        "which it says itself, or when a program removes LD_PRELOAD or VESTIGE_TRACER "
        "from its environment"
    )


def _why_without_events(
    command: Sequence[str], options: RecordingOptions, contents: Contents
) -> str | None:
    rules = options.rules()
    if (
        contents.has_chosen
        or not rules
        or any(
            rule.takes_name(name, level_of(name))
            for rule in rules
            for name in ALWAYS_RECORDED
        )
    ):
        return None
    names = _shortened([f"'{rule.text}'" for rule in rules])
    reason = None
    if has_python(contents.objects):
        reason = _why_without_python(command, contents.objects)
    if all(rule.is_logger for rule in rules):
        hint = reason or "loggers leave out what is below their own level"
        return (
            f"no event but the state dump: no record of the log meets {names}; {hint}"
        )
    line = f"no event but the state dump: no tracepoint was hit that matches {names}"
    return f"{line}; {reason}" if reason else line


def _why_without_hooks(
    command: Sequence[str], options: RecordingOptions, objects: Sequence[str]
) -> str:
    found = {path: hooks_of(path) for path in objects if path.startswith("/")}
    defining = [path for path, hooks in found.items() if hooks == "defined"]
    calling = [path for path, hooks in found.items() if hooks == "called"]
    if defining:
        return (
            f"{_names(defining)} has hooks of its own (__cyg_profile_func_enter), "
            "which come before those of the tracer"
        )
    if options.library_calls is not None:
        return "no function of a library was called whose name --library-calls matches"
    if not calling:
        if has_python(objects):
            return _why_without_python_calls(command, options, objects)
        names = _names([path for path in found if ".so" not in os.path.basename(path)])
        nothing = f"nothing in {names or 'the program'} is instrumented"
        return f"{nothing}; {HOW_TO_COMPILE}, or {WITHOUT_COMPILER}"
    if options.include or options.exclude:
        return (
            f"no call in {_names(calling)} passed --include-function and "
            "--exclude-function; names are those of the symbol table, see 'nm', or for "
            "C++ qualified names"
        )
    return f"no function of {_names(calling)} was called that is instrumented"


def _why_without_python_calls(
    command: Sequence[str], options: RecordingOptions, objects: Sequence[str]
) -> str:
    reason = _why_without_python(command, objects)
    if reason is not None:
        return reason
    if options.python_functions is None:
        return "--python-functions records those of Python programs"
    if (
        options.include
        or options.exclude
        or options.only_my_code
        or options.min_duration
    ):
        return (
            "no Python function was chosen by --include-function, "
            "--exclude-function, --only-my-code and --min-duration, or "
            "Vestige's startup module did not run; a pattern is [FILE:]NAME or "
            "MODULE.NAME, as in 'shop.cart.*'"
        )
    return (
        "Vestige's startup module did not run in Python, as when another program "
        "starts it with -I, -E or -S, or replaces PYTHONPATH"
    )


def _why_without_python(command: Sequence[str], objects: Sequence[str]) -> str | None:
    # Few programs are Python's.
    from ...inspect.python_diagnosis import (  # noqa: PLC0415 - see above
        why_without_python,
    )

    return why_without_python(command, objects)


def _names(paths: Sequence[str]) -> str:
    """Return the names of a few files."""
    return _shortened([os.path.basename(path) for path in paths])


def _shortened(texts: Sequence[str]) -> str:
    """Return a few texts, each once."""
    shown = 3
    names = list(dict.fromkeys(texts))
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more
