"""The options of ``vestige record`` that choose events: ``-e`` and what follows it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from .._typing import TYPE_CHECKING
from ..record import EventRule
from ..record.rules.event_rules import split_names

if TYPE_CHECKING:
    from typing import Any

__all__ = ["add_event_rule_arguments", "add_function_arguments"]


class _AddRule(argparse.Action):
    """Begins a rule."""

    def __call__(
        self,
        _parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        _option: str | None = None,
    ) -> None:
        rule = EventRule(str(values), is_logger=namespace.has_loggers)
        setattr(namespace, self.dest, [*getattr(namespace, self.dest), rule])


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
            for name in split_names(str(values)) if not rule.is_logger else ():
                self._refuse_function(name, rule)
            value: object = (*rule.exclude, str(values))
        elif getattr(rule, self.dest) is not None:
            raise argparse.ArgumentError(self, f"expected once for '{rule.pattern}'")
        else:
            value = str(values)
        namespace.event = [*others, rule._replace(**{self.dest: value})]

    def _refuse_function(self, name: str, rule: EventRule) -> None:
        """Refuse what was meant for functions: no event would ever be left out."""
        is_event = "::" not in name or "::" in rule.pattern
        is_glob = any(sign in name for sign in "*?[")
        if not is_event or not (":" in name or is_glob):
            raise argparse.ArgumentError(
                self,
                f"'{name}' is not an event, whose name is PROVIDER:NAME; "
                "--exclude-function leaves out functions",
            )


class _Exclude(_AddCondition):
    """Adds an exclusion to the rule before; without one, it still means functions."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option: str | None = None,
    ) -> None:
        if namespace.event or option == "--except":
            super().__call__(parser, namespace, values, option)
        else:
            namespace.exclude_function = [*namespace.exclude_function, str(values)]
            note_old_name(namespace, "--exclude without an -e before it")


def note_old_name(namespace: argparse.Namespace, option: str) -> None:
    """Remember that an option was given that has another name now.

    Args:
        namespace: The options; ``old_names`` has the lines.
        option: What was given.
    """
    name = "--include-function" if option == "--include" else "--exclude-function"
    line = f"{option} means functions in this release only: the option is {name} now"
    if line not in namespace.old_names:
        namespace.old_names = [*namespace.old_names, line]


class _Include(argparse.Action):
    """Adds a pattern of functions by the name that the option had."""

    def __call__(
        self,
        _parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        _option: str | None = None,
    ) -> None:
        namespace.include_function = [*namespace.include_function, str(values)]
        note_old_name(namespace, "--include")


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
        help="record events whose name matches PATTERN, with *, ? and [...] "
        "(repeatable; default: function calls and all tracepoints). The state dump and "
        "loaded objects are always recorded",
    )
    parser.add_argument(
        "--python",
        dest="has_loggers",
        action="store_true",
        help="choose loggers of Python programs by name with the -e options that "
        "follow; their log levels are Python's, such as WARNING or 30",
    )
    parser.add_argument(
        "--exclude",
        "--except",
        metavar="PATTERN[,PATTERN]...",
        action=_Exclude,
        default=argparse.SUPPRESS,
        help="after -e: leave out events whose name matches (repeatable)",
    )
    parser.set_defaults(old_names=[])
    conditions = (
        (
            "--loglevel",
            "level",
            "LEVEL",
            "only events at least as severe, such as INFO or 6",
        ),
        ("--loglevel-only", "only_level", "LEVEL", "only events of this log level"),
        (
            "--filter",
            "filter",
            "EXPR",
            "only events for which EXPR holds, as 'size > 4096 && name != \"a*\"'",
        ),
    )
    for option, member, metavar, text in conditions:
        parser.add_argument(
            option,
            dest=member,
            metavar=metavar,
            action=_AddCondition,
            default=argparse.SUPPRESS,
            help=f"after -e: {text}",
        )


def add_function_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose functions by their names.

    Args:
        parser: Where to; the patterns become its ``include_function`` and
            ``exclude_function``, lists.
    """
    parser.add_argument(
        "--include-function",
        metavar="PATTERN",
        action="append",
        default=[],
        help="record only calls of these functions: [OBJECT:]NAME with *, ? and "
        "[...], or [OBJECT:]0xSTART-0xEND (repeatable)",
    )
    parser.add_argument(
        "--exclude-function",
        metavar="PATTERN",
        action="append",
        default=[],
        help="do not record calls of these functions (repeatable)",
    )
    parser.add_argument(
        "--include", action=_Include, default=argparse.SUPPRESS, help=argparse.SUPPRESS
    )
