"""Which events of the kernel are wanted: rules as LTTng has them, and words for them.

Rules go from those who ask to the process that records, so all of them is what JSON can
say.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ...._typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

__all__ = [
    "ALL",
    "CALLS",
    "KINDS",
    "PHASES",
    "PROBES",
    "KernelRule",
    "is_plain",
    "pattern_of",
    "rules_of_words",
    "takes_name",
]

ALL = "all"
"""The word for everything."""
CALLS = "syscalls"
"""The kernel's system of system calls, and the word for them."""
PROBES = frozenset({"probe", "function", "userspace-probe"})
"""Kinds of rules for events that are made for them."""
KINDS = frozenset({"event", "tracepoint", "syscall", *PROBES})
PHASES = {
    "entry": ("entry",),
    "exit": ("exit",),
    "entry+exit": ("entry", "exit"),
}
"""Which events of a system call a rule takes."""

_MOST_PATTERNS = 4096
"""Patterns that are kept: each is looked at for many names."""


class KernelRule(NamedTuple):
    """A recording event rule of the kernel."""

    kind: str
    """``tracepoint``, ``syscall``, ``probe``, ``function``, ``userspace-probe``; or
    ``event``, which takes tracepoints and both events of system calls alike."""

    pattern: str = "*"
    """LTTng's name, with ``*``: of a tracepoint, of a system call without what comes
    before it, or of the event that a probe makes."""

    phase: str = "entry+exit"
    """Of a system call: which of its events; one of :data:`PHASES`."""

    filter: str | None = None
    """In LTTng's language."""

    location: dict[str, Any] | None = None
    """Of a probe: where it is, as ``probe_words`` of the command line says it."""

    system: str | None = None
    """The kernel's system of events, where these alone are wanted; ``pattern`` is the
    kernel's own name then."""

    word: str | None = None
    """What somebody has written for it, if it was another text."""

    @property
    def text(self) -> str:
        """What people call it."""
        return self.word or self.pattern


def rules_of_words(words: Iterable[str]) -> list[KernelRule]:
    """Return the rules that words of a command line say.

    Args:
        words: ``all``; a system of the kernel (``sched``, ``syscalls``); ``syscalls:``
            and a pattern of names of system calls; a system, a colon and a pattern of
            the kernel's own names; a pattern of LTTng's names, with ``*``.
    """
    return [_rule(word) for word in words]


def _rule(word: str) -> KernelRule:
    if word == ALL:
        return KernelRule("event", word=word)
    system, colon, pattern = word.partition(":")
    if system == CALLS:
        return KernelRule("syscall", pattern if colon else "*", word=word)
    if colon:
        return KernelRule("tracepoint", pattern, system=system, word=word)
    return KernelRule("event", word)


def takes_name(rule: KernelRule, name: str) -> bool:
    """Tell whether a rule takes an event that is no event of the kernel's systems.

    Args:
        rule: The rule.
        name: LTTng's name of it.
    """
    if rule.kind not in {"event", "tracepoint"} or rule.system is not None:
        return False
    if is_plain(rule.pattern):
        return rule.pattern == name
    return pattern_of(rule.pattern).fullmatch(name) is not None


def is_plain(pattern: str) -> bool:
    """Tell whether a pattern is a name: there may be thousands of these.

    Args:
        pattern: As :func:`pattern_of` has it.
    """
    return "*" not in pattern and "\\" not in pattern


@lru_cache(_MOST_PATTERNS)
def pattern_of(pattern: str) -> re.Pattern[str]:
    r"""Return what matches the names that a pattern means.

    Args:
        pattern: ``*`` stands for any text, and ``\*`` for a star.
    """
    tokens = re.findall(r"\\.|.", pattern, re.DOTALL)
    return re.compile(
        "".join(".*" if one == "*" else re.escape(one[-1]) for one in tokens)
    )
