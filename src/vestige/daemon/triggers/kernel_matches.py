"""Rules of triggers for the kernel: watchers, and who is told what they see."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

from ...record.backends.kernel.rules import KernelRule
from ...record.backends.kernel.tidier import Tidier
from ...record.backends.kernel.tracefs import NoKernelTracerError
from ...record.backends.kernel.watched_pages import Value
from ...record.backends.kernel.watcher import Seen, Watcher
from .conditions import EventRuleMatches
from .event_rules import EventRule, Expression
from .trigger import Trigger

__all__ = ["KernelMatches"]

OnMatch = Callable[[int, object], None]
MOST_WATCHERS = 64
"""Each has buffers of every CPU, and a descriptor for them."""
MANY = 64
"""Matches of a CPU that come at once. There may be millions a second: what comes in the
next :data:`PAUSE` waits, and is lost where it finds no room."""
PAUSE = 0.02
"""Seconds."""
_KINDS = {
    "kernel-tracepoint": "tracepoint",
    "kernel-syscall": "syscall",
    "kernel-kprobe": "probe",
    "kernel-uprobe": "userspace-probe",
}


class KernelMatches:
    """Tells which events of the kernel match rules of triggers.

    Args:
        warn: Says what is missing, but hinders nothing else.
    """

    def __init__(self, warn: Callable[[str], None] | None = None) -> None:
        self._warn = warn
        self._watchers: dict[int, Watcher] = {}
        """By the tokens of their triggers."""
        self._tidier: Tidier | None = None
        """Once there was a watcher: what these have in the kernel is gone, too, if this
        process is killed."""
        self.on_match: OnMatch = _ignore

    def check(self, rule: EventRule) -> None:
        """Refuse a rule that the kernel cannot look at.

        Args:
            rule: The rule.

        Raises:
            ValueError: It cannot; this says why.
            OSError: As above.
        """
        if len(self._watchers) >= MOST_WATCHERS:
            raise ValueError(f"expected up to {MOST_WATCHERS} rules for the kernel")
        try:
            Watcher(kernel_rule(rule), "trigger-test").close()
        except NoKernelTracerError as error:
            raise ValueError(str(error)) from error

    def watch(self, triggers: Iterable[Trigger]) -> None:
        """Look at the rules of triggers, and at no others any more.

        Args:
            triggers: All triggers that there are.
        """
        wanted = {
            one.token: condition
            for one in triggers
            if isinstance(condition := one.condition, EventRuleMatches)
            and not condition.rule.is_of_user_space
        }
        for token in [*self._watchers]:
            if token not in wanted:
                self._end(token)
        for token, condition in wanted.items():
            if token not in self._watchers:
                self._begin(token, condition)

    def _begin(self, token: int, condition: EventRuleMatches) -> None:
        try:
            if self._tidier is None:
                self._tidier = Tidier()
            watcher = Watcher(kernel_rule(condition.rule), f"trigger{token}")
        except (NoKernelTracerError, OSError) as error:
            # Who has registered it was told; this is a daemon after that one.
            if self._warn is not None:
                self._warn(f"a trigger for the kernel is not looked at: {error}")
            return
        self._watchers[token] = watcher
        for descriptor in watcher.descriptors:
            self._wait(token, condition, descriptor)
        watcher.start()

    def _wait(self, token: int, condition: EventRuleMatches, descriptor: int) -> None:
        """Read a CPU once there is something, unless that is over."""
        watcher = self._watchers.get(token)
        if watcher is not None and descriptor in watcher.descriptors:
            loop = asyncio.get_running_loop()
            loop.add_reader(descriptor, self._read, token, condition, descriptor)

    def _read(self, token: int, condition: EventRuleMatches, descriptor: int) -> None:
        found = self._watchers[token].read(descriptor)
        for seen in found:
            self.on_match(token, captured(condition.captures, seen))
        if len(found) >= MANY:
            loop = asyncio.get_running_loop()
            loop.remove_reader(descriptor)
            loop.call_later(PAUSE, self._wait, token, condition, descriptor)

    def _end(self, token: int) -> None:
        watcher = self._watchers.pop(token)
        loop = asyncio.get_running_loop()
        for descriptor in watcher.descriptors:
            loop.remove_reader(descriptor)
        watcher.close()

    def lost(self, token: int) -> int:
        """Return how many events nobody could see.

        Args:
            token: The trigger's.
        """
        watcher = self._watchers.get(token)
        return 0 if watcher is None else watcher.lost

    def close(self) -> None:
        """Look at nothing any more."""
        for token in [*self._watchers]:
            self._end(token)
        if self._tidier is not None:
            self._tidier.end()
            self._tidier = None


def _ignore(token: int, values: object) -> None:
    """Do nothing: nobody is told yet."""


def kernel_rule(rule: EventRule) -> KernelRule:
    """Return the rule of the kernel that a trigger's rule stands for.

    Args:
        rule: One that is not of user space.
    """
    return KernelRule(
        _KINDS[rule.type],
        rule.event_name or rule.name,
        rule.emission_site or "entry+exit",
        rule.filter,
        dict(rule.location) or None,
    )


def captured(captures: Sequence[Expression], seen: Seen) -> list[Value]:
    """Return what is captured of an event; ``None`` for what it does not have.

    Args:
        captures: What is wanted.
        seen: The event.
    """
    return [_captured(one, seen) for one in captures]


def _captured(expression: Expression, seen: Seen) -> Value:
    if expression.index is not None or expression.provider is not None:
        return None
    if expression.type == "payload-field":
        return seen.values.get(expression.name)
    # Others are the kernel's to say, and it does not say them with an event.
    return seen.thread if expression.name == "tid" else None
