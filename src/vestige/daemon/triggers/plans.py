"""What programs and agents are told of triggers."""

from __future__ import annotations

from collections.abc import Iterable

from ...record.backends.lttng_ust.agent import AgentPlan
from ...record.backends.lttng_ust.plan import CapturePlan, NotifierPlan, RulePlan
from ..loggers import EVENTS, logger_filter, logger_rule
from ..model import EventRule as LoggerRule
from .conditions import EventRuleMatches
from .event_rules import LOGGING, EventRule, Expression
from .trigger import Trigger

__all__ = ["agent_plans", "notifier_plans"]

_LEVEL_TYPES = {"exactly": "SINGLE", "at-least-as-severe-as": "RANGE"}


def notifier_plans(
    triggers: Iterable[Trigger], *, has_loggers: bool = True
) -> list[NotifierPlan]:
    """Return the rules whose matches programs tell.

    Args:
        triggers: All triggers; those with other conditions are left out.
        has_loggers: Whether these may be for loggers.
    """
    found = []
    for trigger in triggers:
        condition = trigger.condition
        if isinstance(condition, EventRuleMatches) and condition.rule.is_of_user_space:
            if condition.rule.type in LOGGING and not has_loggers:
                continue
            plan = _rule(condition.rule)
            captures = tuple(map(_capture, condition.captures))
            found.append(NotifierPlan(trigger.token, trigger.uid, plan, captures))
    return found


def _rule(rule: EventRule) -> RulePlan:
    domain = LOGGING.get(rule.type)
    if domain is not None:
        expression = logger_filter(_logger_rule(rule)) or None
        return RulePlan(EVENTS[domain], filter=expression)
    kind, level = _level(rule)
    return RulePlan(rule.name, kind, level, rule.filter, rule.exclusions)


def _level(rule: EventRule) -> tuple[str, int]:
    if rule.log_level is None:
        return "ALL", -1
    return _LEVEL_TYPES[rule.log_level.type], rule.log_level.level


def _logger_rule(rule: EventRule) -> LoggerRule:
    kind, level = _level(rule)
    return LoggerRule(rule.name, level_type=kind, level=level, filter=rule.filter)


def _capture(expression: Expression) -> CapturePlan:
    name = expression.name
    if expression.provider is not None:
        name = f"{expression.provider}:{name}"
    return CapturePlan(expression.type, name, expression.index)


def agent_plans(triggers: Iterable[Trigger]) -> dict[int, dict[str, AgentPlan]]:
    """Return what agents are told of triggers, by user and domain.

    Args:
        triggers: All triggers; those with other conditions are left out.
    """
    found: dict[int, dict[str, AgentPlan]] = {}
    for trigger in triggers:
        condition = trigger.condition
        if not isinstance(condition, EventRuleMatches):
            continue
        domain = LOGGING.get(condition.rule.type)
        if domain is None:
            continue
        plans = found.setdefault(trigger.uid, {})
        plan = plans.get(domain, AgentPlan(trigger.uid))
        rule = logger_rule(domain, _logger_rule(condition.rule))
        contexts = tuple(
            (one.provider, one.name)
            for one in condition.captures
            if one.provider is not None
        )
        plans[domain] = plan._replace(
            rules=(*plan.rules, rule), contexts=(*plan.contexts, *contexts)
        )
    return found
