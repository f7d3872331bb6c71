"""Rules that choose events: patterns of names, exclusions, log levels, filters.

The conditions are those of lttng-enable-event(1). A rule is compiled here; the tracer
compares names and levels when a program registers a tracepoint, and runs the filter
at each event.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ..._typing import TYPE_CHECKING, NamedTuple
from ...errors import SelectionError
from ...log_levels import LEVEL_PREFIXES, LOG_LEVELS
from .._agreement import APPLICATION_PREFIX, MOST_APPLICATION_OPERANDS
from .logger_rules import LOG_EVENT, logger_filter

if TYPE_CHECKING:
    from ...expressions.code import Instruction

__all__ = ["CompiledRule", "EventRule", "compile_rules", "split_names"]

LOWEST, HIGHEST = -(1 << 31), (1 << 31) - 1
MOST_PATTERNS = 1024
"""Of all rules together, with their exclusions; the tracer has room for more."""


class EventRule(NamedTuple):
    """Events that are recorded: those that meet all conditions."""

    pattern: str
    """The full name, ``provider:name``, with ``*``, ``?`` and ``[...]``; several, with
    commas between them. A backslash makes the next character an ordinary one."""

    exclude: tuple[str, ...] = ()
    """Patterns of names that are left out."""

    level: str | int | None = None
    """The least severe log level."""

    only_level: str | int | None = None
    """The only log level."""

    filter: str | None = None
    """An expression of fields and contexts that must be true."""

    is_logger: bool = False
    """Whether the patterns are names of loggers of Python programs, with the levels of
    :mod:`logging`; ``*`` is any text. Their records are ``lttng_python:event``."""


class CompiledRule(NamedTuple):
    """A rule as the tracer takes it: one pattern."""

    text: str
    """The pattern as it was given."""

    glob: str
    """The pattern as fnmatch(3) takes it, without escapes."""

    exclude: tuple[str, ...] = ()
    """The same of the exclusions."""

    levels: tuple[int, int] = (LOWEST, HIGHEST)
    """The first and the last log level."""

    code: tuple[Instruction, ...] = ()
    """The filter; empty when there is none."""

    is_logger: bool = False
    """Whether it is for a logger of Python programs."""

    def may_hold(self, fields: Collection[str]) -> bool:
        """Tell whether the filter may be true for events with these fields.

        Args:
            fields: All that they have.

        Returns:
            Whether there is no filter, or it asks for none that they do not have.
        """
        return not self.code or self.fields.issubset(fields)

    @property
    def names_provider(self) -> bool:
        """Whether the pattern names a provider, without wildcards."""
        return not any(sign in self.glob.partition(":")[0] for sign in "*?[")

    def chooses(self, name: str, fields: Collection[str]) -> bool:
        """Tell whether the rule has a word about an event, whatever its level is.

        Args:
            name: The full name.
            fields: The event's fields.

        Returns:
            Whether it takes the name, and either names the provider or might be true.
        """
        return self.takes_name(name, None) and (
            self.names_provider or self.may_hold(fields)
        )

    @property
    def fields(self) -> frozenset[str]:
        """The fields that the filter asks for."""
        return frozenset(self._names("FIELD", "ELEMENT"))

    @property
    def contexts(self) -> frozenset[str]:
        """The contexts that the filter asks for."""
        return frozenset(self._names("CONTEXT"))

    def _names(self, *operations: str) -> Iterable[str]:
        for operation, _, value in self.code:
            if operation.name in operations and isinstance(value, bytes):
                yield value.decode(errors="replace")

    def takes_name(self, name: str, level: int | None) -> bool:
        """Tell whether the rule takes events of a name and a level.

        Args:
            name: The full name.
            level: The log level, if there is one.

        Returns:
            Whether it does, as far as the filter lets them through.
        """
        # Takes longer to import than most recordings need to start.
        from fnmatch import fnmatchcase  # noqa: PLC0415 - see above

        first, last = self.levels
        return (
            (level is None or first <= level <= last)
            and fnmatchcase(name, self.glob)
            and not any(fnmatchcase(name, glob) for glob in self.exclude)
        )


def compile_rules(rules: Iterable[str | EventRule]) -> tuple[CompiledRule, ...]:
    """Check rules and write them as the tracer takes them.

    Args:
        rules: Rules, or patterns alone.

    Returns:
        The rules, one for each pattern.

    Raises:
        SelectionError: A pattern can be no event's name, a level or a filter is wrong,
            or there are too many.
    """
    compiled = [
        one
        for rule in rules
        for one in _compile(rule if isinstance(rule, EventRule) else EventRule(rule))
    ]
    count = sum(1 + len(rule.exclude) for rule in compiled)
    if count > MOST_PATTERNS:
        raise SelectionError(
            f"{count:,} patterns of events: expected up to {MOST_PATTERNS:,}"
        )
    for rule in compiled:
        asked = [one for one in rule.contexts if one.startswith(APPLICATION_PREFIX)]
        if len(asked) > MOST_APPLICATION_OPERANDS:
            raise SelectionError(
                f"the filter for '{rule.text}' asks for {len(asked)} contexts of "
                f"applications: expected up to {MOST_APPLICATION_OPERANDS}"
            )
    return tuple(compiled)


def split_names(text: str) -> list[str]:
    r"""Take a list of patterns apart.

    Args:
        text: Patterns with commas between them; ``\,`` is a comma in a pattern.

    Returns:
        The patterns, with their escapes.
    """
    parts = [""]
    characters = iter(text)
    for character in characters:
        if character == ",":
            parts.append("")
            continue
        parts[-1] += character
        if character == "\\":
            parts[-1] += next(characters, "")
    return parts


def _compile(rule: EventRule) -> Iterable[CompiledRule]:
    if rule.level is not None and rule.only_level is not None:
        raise SelectionError(
            f"'{rule.pattern}': expected a least log level or an only one, not both"
        )
    if rule.is_logger:
        yield from _compile_logger(rule)
        return
    levels = (LOWEST, HIGHEST)
    if rule.level is not None:
        levels = (LOWEST, _level(rule.level))
    elif rule.only_level is not None:
        levels = (_level(rule.only_level),) * 2
    code: Sequence[Instruction] = ()
    if rule.filter is not None:
        # Few recordings have one.
        from ...expressions import compile_filter  # noqa: PLC0415 - see above

        code = compile_filter(rule.filter)
    exclude = tuple(
        _glob(name) for names in rule.exclude for name in split_names(names)
    )
    for name in split_names(rule.pattern):
        yield CompiledRule(name, _full_name(name), exclude, levels, tuple(code))


def _compile_logger(rule: EventRule) -> Iterable[CompiledRule]:
    """Write a rule for loggers as a filter of their event."""
    # Few recordings have one.
    from ...expressions import compile_filter  # noqa: PLC0415 - see above

    if rule.filter is not None:
        # A mistake is reported with its own column.
        compile_filter(rule.filter)
    exclude = [name for names in rule.exclude for name in split_names(names)]
    for name in split_names(rule.pattern):
        text = logger_filter(name, exclude, rule.level, rule.only_level)
        if rule.filter is not None:
            text += f" && ({rule.filter})"
        code = tuple(compile_filter(text))
        yield CompiledRule(name, LOG_EVENT, code=code, is_logger=True)


def _full_name(pattern: str) -> str:
    """Return the pattern of an event's name, which has a colon."""
    glob = _glob(pattern)
    is_plain = not any(sign in pattern for sign in "*?[")
    provider, colon, name = pattern.partition(":")
    if not pattern or (is_plain and not (provider and colon and name)):
        raise SelectionError(
            f"no event matches '{pattern}': expected PROVIDER:NAME with *, ? and [...];"
            f" a logger of Python is chosen by --python -e '{pattern}'"
        )
    return glob


def _glob(pattern: str) -> str:
    """Write escapes as sets of one character."""
    glob = ""
    characters = iter(pattern)
    for character in characters:
        if character == "\0":
            raise SelectionError(f"{pattern!r}: expected no character of code 0")
        if character != "\\":
            glob += character
            continue
        escaped = next(characters, None)
        if escaped is None:
            raise SelectionError(f"'{pattern}': expected a character after the last \\")
        glob += f"[{escaped}]" if escaped in "*?[" else escaped
    return glob


def _level(level: str | int) -> int:
    text = str(level).strip()
    if text.isdecimal() and int(text) < len(LOG_LEVELS):
        return int(text)
    name = text.upper()
    for prefix in LEVEL_PREFIXES:
        name = name.removeprefix(prefix)
    if name not in LOG_LEVELS:
        raise SelectionError(
            f"no log level '{level}': expected 0 to {len(LOG_LEVELS) - 1}, or one of "
            f"{', '.join(LOG_LEVELS)}"
        )
    return LOG_LEVELS.index(name)
