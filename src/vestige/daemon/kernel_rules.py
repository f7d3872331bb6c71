"""Recording event rules of the kernel: what cannot be one, and what matches nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from ..errors import SelectionError
from ..record.backends.kernel.expressions import FilterError
from ..record.rules.kernel_contexts import check_kernel_filter
from .backend import Backend
from .model import EventRule
from .names import check_named
from .probe_locations import PLACES
from .refusals import refused

__all__ = ["KernelPoints", "check_kernel_rule", "check_with_kernel"]


class KernelPoints:
    """The names of what the kernel can record, read once for a request.

    Args:
        backend: Knows the kernel.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._names: dict[bool, Collection[str]] = {}

    async def has(self, rule: EventRule) -> bool:
        """Tell whether a rule matches something now.

        Args:
            rule: The rule.

        Raises:
            OSError: They cannot be read.
        """
        if rule.type in PLACES:
            return True
        is_call = rule.type == "SYSCALL"
        if (names := self._names.get(is_call)) is None:
            names = frozenset(await self._backend.kernel_points(calls=is_call))
            self._names[is_call] = names
        if "*" not in rule.name:
            return rule.name in names
        pattern = re.compile(".*".join(map(re.escape, rule.name.split("*"))))
        return any(map(pattern.fullmatch, names))


def check_kernel_rule(rule: EventRule) -> None:
    """Refuse what cannot be a rule of any kernel.

    Args:
        rule: What was asked for.

    Raises:
        SessionError: It cannot be.
    """
    check_named(rule.name)
    if rule.exclusions or rule.level_type != "ALL":
        raise refused("INVALID", "rules of the kernel have no exclusions and no levels")
    if rule.type in PLACES:
        if rule.location is None or rule.location["type"] not in PLACES[rule.type]:
            raise refused("INVALID", "expected the place of a probe")
        if rule.filter is not None:
            raise refused("FILTER_INVAL", "rules with probes have no filters")
    elif rule.location is not None:
        raise refused("INVALID", "expected no place")
    if rule.filter is not None:
        try:
            check_kernel_filter(rule.filter)
        except SelectionError as error:
            raise refused("FILTER_INVAL", str(error)) from error


async def check_with_kernel(
    backend: Backend, rules: Sequence[EventRule], points: KernelPoints
) -> bool:
    """Refuse what this kernel cannot record.

    Args:
        backend: Knows the kernel.
        rules: What was asked for; together they are one rule for people.
        points: What there is.

    Returns:
        Whether one of the rules matches something now. As in LTTng, a rule may wait
        for what a module brings.

    Raises:
        SessionError: It cannot.
    """
    is_matching = False
    for rule in rules:
        try:
            await backend.check_kernel_rule(rule)
        except FilterError as error:
            raise refused("FILTER_INVAL", str(error)) from error
        except (ValueError, OSError) as error:
            is_place = rule.type == "USERSPACE_PROBE"
            name = "PROBE_LOCATION_INVAL" if is_place else "KERN_ENABLE_FAIL"
            raise refused(name, str(error)) from error
        is_matching = await points.has(rule) or is_matching
    return is_matching
