"""Rules for loggers: what programs and agents are told of them.

Agents send messages of loggers as events of one name, with the logger and the level as
fields. So a rule is a filter of these events, and tells agents which messages matter.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..expressions import compile_filter
from ..expressions.code import Operation
from ..record.backends.lttng_ust.agent import AgentPlan
from ..record.backends.lttng_ust.agent_protocol import LoggerRule
from ..record.backends.lttng_ust.plan import RulePlan
from .contexts import ContextType
from .log_levels import LOG_LEVELS
from .model import AGENT_CHANNELS, AGENT_DOMAINS, EventRule, Session

__all__ = ["EVENTS", "agent_plans", "logger_filter", "logger_rule", "logger_rules"]

EVENTS = {
    "JUL": "lttng_jul:event",
    "LOG4J": "lttng_log4j:event",
    "PYTHON": "lttng_python:event",
}
"""The events of loggers."""
LEAST = {domain: LOG_LEVELS[domain]["ALL"] for domain in ("JUL", "LOG4J")} | {
    "PYTHON": LOG_LEVELS["PYTHON"]["DEBUG"]
}
"""What LTTng tells agents where all levels are wanted."""
_COMPARISONS = {"RANGE": ">=", "SINGLE": "=="}


def logger_filter(rule: EventRule) -> str:
    """Return the filter of the events that a rule for loggers means.

    Args:
        rule: The rule.

    Returns:
        The expression; empty if all are meant.
    """
    parts = [] if rule.filter is None else [f"({rule.filter})"]
    if rule.name != "*":
        parts.append(f'logger_name == "{_literal(rule.name)}"')
    if rule.level_type in _COMPARISONS:
        parts.append(f"int_loglevel {_COMPARISONS[rule.level_type]} {rule.level}")
    return " && ".join(parts)


def _literal(pattern: str) -> str:
    r"""Write a pattern as a string of a filter: ``\*`` and ``\\`` are alike."""
    parts = []
    characters = iter(pattern)
    for character in characters:
        if character == "\\":
            following = next(characters, "\\")
            parts.append(f"\\{following}" if following in "*\\" else f"\\\\{following}")
        else:
            parts.append('\\"' if character == '"' else character)
    return "".join(parts)


def logger_rules(session: Session, domain: str) -> list[tuple[RulePlan, bool]]:
    """Return the rules for loggers as rules for events of programs.

    Args:
        session: The session.
        domain: Of which library.

    Returns:
        Each with whether it is enabled.
    """
    plans: dict[RulePlan, bool] = {}
    for one in session.agents.get(domain, []):
        plan = RulePlan(EVENTS[domain], filter=logger_filter(one) or None)
        plans[plan] = plans.get(plan, False) or one.enabled
    return [*plans.items()]


def agent_plans(session: Session) -> dict[str, AgentPlan]:
    """Return what agents are told of a session, by domain.

    Args:
        session: The session; agents are told of active ones.
    """
    plans = {}
    for domain in AGENT_DOMAINS if session.active else ():
        channel = session.channels.get(AGENT_CHANNELS[domain])
        if channel is None or not channel.enabled:
            continue
        enabled = [one for one in session.agents.get(domain, []) if one.enabled]
        rules = tuple(logger_rule(domain, one) for one in enabled)
        names = [one.name for one in channel.contexts if one.kind == "APP"]
        # A program fills in only those that it is told of, for filters, too.
        names += [name for one in enabled for name in _contexts_in(one)]
        contexts = tuple(
            ContextType("APP", name, is_of_user_space=True).application
            for name in dict.fromkeys(names)
        )
        plans[domain] = AgentPlan(session.uid, rules, contexts)
    return plans


def _contexts_in(rule: EventRule) -> Iterator[str]:
    """Yield the contexts of applications that the filter of a rule names."""
    for one in () if rule.filter is None else compile_filter(rule.filter):
        if one.operation == Operation.CONTEXT and isinstance(one.value, bytes):
            name = one.value.decode(errors="replace").partition("[")[0]
            if ContextType("APP", name, is_of_user_space=True).application != ("", ""):
                yield name


def logger_rule(domain: str, rule: EventRule) -> LoggerRule:
    """Return what agents are told of a rule for loggers.

    Args:
        domain: Of which library.
        rule: The rule.
    """
    level = LEAST[domain] if rule.level_type == "ALL" else rule.level
    return LoggerRule(rule.name, rule.level_type, level, logger_filter(rule))
