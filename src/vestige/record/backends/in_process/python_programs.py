"""What Python programs record by themselves: their log, and calls of functions."""

from __future__ import annotations

import os

from ...._typing import TYPE_CHECKING
from ...rules.options import RecordingOptions
from .clock import SECOND

if TYPE_CHECKING:
    from ...rules.event_rules import CompiledRule

__all__ = ["STARTUP", "python_word"]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(__file__))))
STARTUP = os.path.join(_PACKAGE, "instrument", "startup")
"""The directory that Python looks into first, with a module that it always imports."""


def python_word(options: RecordingOptions, frequency: int = SECOND) -> str:
    """Return what each Python program in a recording is asked for.

    Args:
        options: What is recorded.
        frequency: Of the recording's clock, in Hz.

    Returns:
        Words with commas between them; empty when nothing is asked for.
    """
    words = ["logging"] if _has_log(options.rules()) else []
    if words and options.python_tracebacks:
        words.append("tracebacks")
    if options.python_functions is not None:
        words.append("functions")
    if options.python_functions == "all":
        words.append("builtins")
    if options.python_arguments:
        words.append("arguments")
    if options.python_gc:
        words.append("gc")
    if options.only_my_code:
        words.append("own-code")
    if options.max_depth is not None:
        words.append(f"depth={options.max_depth}")
    if options.min_duration:
        words.append(f"least={options.min_duration * frequency // SECOND}")
    return ",".join(words)


def _has_log(rules: tuple[CompiledRule, ...]) -> bool:
    if not rules:
        return True
    from ...rules.logger_rules import LOG_EVENT  # noqa: PLC0415 - few recordings have any

    # Whatever the level: that of a rule is compared where the event is made.
    return any(rule.takes_name(LOG_EVENT, None) for rule in rules)
