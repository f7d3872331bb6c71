"""Event rules of conditions: which events are meant, and what is captured of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...errors import SelectionError
from ...expressions import compile_filter
from ..names import check_named
from ..probe_locations import read_location
from ..protocol import Values
from ..refusals import refused

__all__ = ["EventRule", "Expression", "LogLevel", "read_expression", "read_rule"]

LONGEST_PATH = 4096
MOST_EXCLUSIONS = 1024
LOGGING = {"jul-logging": "JUL", "log4j-logging": "LOG4J", "python-logging": "PYTHON"}
"""The rules for loggers, with their domains."""
USER_TYPES = {"user-tracepoint", *LOGGING}
PATTERN_TYPES = {*USER_TYPES, "kernel-tracepoint", "kernel-syscall"}
PROBE_TYPES = {"kernel-kprobe", "kernel-uprobe"}
SITES = ("entry+exit", "entry", "exit")
LEVEL_TYPES = ("exactly", "at-least-as-severe-as")


@dataclass(frozen=True)
class LogLevel:
    """A condition on the log level."""

    type: str
    """``exactly`` or ``at-least-as-severe-as``."""

    level: int


@dataclass(frozen=True)
class EventRule:
    """The event rule of a condition."""

    type: str
    """As ``user-tracepoint``; the members that others have are empty."""

    name: str = "*"
    """The pattern of names."""

    filter: str | None = None
    log_level: LogLevel | None = None
    exclusions: tuple[str, ...] = ()
    emission_site: str | None = None
    """Of a system call: one of :data:`SITES`."""

    event_name: str | None = None
    """Of the event that a probe makes."""

    location: tuple[tuple[str, str | int], ...] = ()
    """Where a probe is: the members that :mod:`~..probe_locations` has."""

    @property
    def is_of_user_space(self) -> bool:
        """Whether programs can match it."""
        return self.type in USER_TYPES

    def to_json(self) -> dict[str, Any]:
        """Return what JSON can say of it."""
        found: dict[str, Any] = {"type": self.type}
        if self.type in PROBE_TYPES:
            return {
                **found,
                "event_name": self.event_name,
                "location": dict(self.location),
            }
        found |= {"name": self.name, "filter": self.filter}
        if self.type == "kernel-syscall":
            found["emission_site"] = self.emission_site
        if self.type in USER_TYPES:
            level = self.log_level
            found["log_level"] = (
                None if level is None else {"type": level.type, "level": level.level}
            )
        if self.type == "user-tracepoint":
            found["exclusions"] = list(self.exclusions)
        return found


def read_rule(values: Values) -> EventRule:
    """Return a rule that a client sent.

    Args:
        values: Its members.

    Raises:
        SessionError: It is none.
    """
    kind = values.choice("type", PATTERN_TYPES | PROBE_TYPES)
    if kind in PROBE_TYPES:
        return EventRule(
            kind,
            "",
            event_name=check_named(values.text("event_name"), LONGEST_PATH),
            location=tuple(read_location(values.member("location"), kind).items()),
        )
    name = values.optional_text("name")
    site = None
    if kind == "kernel-syscall":
        default = values.optional_text("emission_site") is None
        site = SITES[0] if default else values.choice("emission_site", SITES)
    exclusions = values.texts("exclusions") if kind == "user-tracepoint" else []
    if len(exclusions) > MOST_EXCLUSIONS:
        raise refused("INVALID", f"expected up to {MOST_EXCLUSIONS} exclusions")
    return EventRule(
        kind,
        "*" if name is None else check_named(name),
        _filter(values),
        _log_level(values) if kind in USER_TYPES else None,
        tuple(map(check_named, exclusions)),
        site,
    )


def _filter(values: Values) -> str | None:
    expression = values.optional_text("filter")
    if expression is not None:
        try:
            compile_filter(expression)
        except SelectionError as error:
            raise refused("FILTER_INVAL", str(error)) from error
    return expression


def _log_level(values: Values) -> LogLevel | None:
    level = values.member("log_level")
    if level is None:
        return None
    number = level.number("level")
    if not -(1 << 31) <= number < 1 << 31:
        raise refused("INVALID", "expected a log level of 32 bits")
    return LogLevel(level.choice("type", LEVEL_TYPES), number)


@dataclass(frozen=True)
class Expression:
    """What is captured: a field of the payload or of a context, or an element of it."""

    type: str
    """``payload-field``, ``channel-context`` or ``app-context``."""

    name: str
    provider: str | None = None
    """Of a program's context."""

    index: int | None = None
    """Of an element; ``None`` if the whole is meant."""

    def to_json(self) -> dict[str, Any]:
        """Return what JSON can say of it."""
        found: dict[str, Any] = {"type": self.type, "name": self.name}
        if self.provider is not None:
            found["provider"] = self.provider
        if self.index is not None:
            return {"type": "element", "index": self.index, "of": found}
        return found


def read_expression(values: Values) -> Expression:
    """Return what a client wants to be captured.

    Args:
        values: Its members.

    Raises:
        SessionError: It cannot be captured.
    """
    kinds = {"payload-field", "channel-context", "app-context"}
    kind = values.choice("type", {*kinds, "element"})
    index = None
    if kind == "element":
        index = values.count("index")
        inner = values.member("of")
        if inner is None:
            raise refused("INVALID", "expected what the element is 'of'")
        # LTTng's control library has an index of 32 bits.
        if index >= 1 << 32:
            raise refused("INVALID", "expected an 'index' of 32 bits")
        values = inner
        kind = values.choice("type", kinds)
    provider = None
    if kind == "app-context":
        provider = check_named(values.text("provider"))
    return Expression(kind, check_named(values.text("name")), provider, index)
