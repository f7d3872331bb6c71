"""The options of ``vestige record`` that choose events: ``-e`` and what follows it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from ..record import EventRule

__all__ = ["add_event_rule_arguments"]


class _AddRule(argparse.Action):
    """Begins a rule."""

    def __call__(
        self,
        _parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        _option: str | None = None,
    ) -> None:
        rules = [*getattr(namespace, self.dest), EventRule(str(values))]
        setattr(namespace, self.dest, rules)


class _AddCondition(argparse.Action):
    """Adds a condition to the rule before."""

    def __call__(
        self,
        _parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        _option: str | None = None,
    ) -> None:
        if not namespace.event:
            raise argparse.ArgumentError(self, "expected after the -e it belongs to")
        *others, rule = namespace.event
        if self.dest == "exclude":
            value: object = (*rule.exclude, str(values))
        elif getattr(rule, self.dest) is not None:
            raise argparse.ArgumentError(self, f"expected once for '{rule.pattern}'")
        else:
            value = str(values)
        namespace.event = [*others, rule._replace(**{self.dest: value})]


def add_event_rule_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options.

    Args:
        parser: Where to; the rules become its ``event``, a list.
    """
    parser.add_argument(
        "-e",
        "--event",
        metavar="PATTERN[,PATTERN]...",
        action=_AddRule,
        default=[],
        help="record events whose name matches, with *, ? and [...]; the state "
        "dump and loaded objects are always recorded (repeatable, an event is "
        "recorded if any matches; default: function calls and all tracepoints)",
    )
    conditions = (
        ("--except", "exclude", "PATTERN[,PATTERN]...", "leave out these names"),
        ("--loglevel", "level", "LEVEL", "at least as severe, as INFO or 6"),
        ("--loglevel-only", "only_level", "LEVEL", "of this log level only"),
        (
            "--filter",
            "filter",
            "EXPR",
            "of which EXPR is true, such as 'size > 4096 && name != \"a*\"'",
        ),
    )
    for option, member, metavar, text in conditions:
        parser.add_argument(
            option,
            dest=member,
            metavar=metavar,
            action=_AddCondition,
            default=argparse.SUPPRESS,
            help=f"for the -e before: {text}",
        )
