"""What narrows a rule, of a channel or of a notifier, as programs are told it."""

from __future__ import annotations

import struct

from . import abi
from .application import Application
from .filter_code import filter_code
from .plan import RulePlan

__all__ = ["encoded_name", "set_conditions"]


def encoded_name(name: str) -> bytes:
    """Return the bytes of a name, as many as programs take; a zero follows.

    Args:
        name: The name, or the pattern.
    """
    return name.encode(errors="replace")[: abi.NAME_SIZE - 1]


async def set_conditions(application: Application, handle: int, rule: RulePlan) -> None:
    """Give a program the filter and the exclusions of a rule that it has made.

    Args:
        application: The program.
        handle: What it calls the rule.
        rule: The rule.

    Raises:
        ApplicationError: It did not take them.
    """
    if rule.filter is not None:
        code, names_at = filter_code(rule.filter)
        head = abi.FILTER_BODY.pack(len(code), names_at, 0)
        await application.do(handle, abi.FILTER, head, code)
    if rule.exclusions:
        names = b"".join(
            encoded_name(one).ljust(abi.NAME_SIZE, b"\0") for one in rule.exclusions
        )
        count = struct.pack("=I", len(rule.exclusions))
        await application.do(handle, abi.EXCLUSION, count, names)
