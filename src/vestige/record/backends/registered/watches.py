"""Rules of triggers as programs with Vestige's own tracer take them."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

from ...rules.encoding import encode_rules
from ..lttng_ust.plan import CapturePlan, NotifierPlan
from ._agreement import (
    CAPTURE_HEAD_FORMAT,
    MESSAGE_WATCH_FORMAT,
    WATCH_HEAD_FORMAT,
    Capture,
)
from .trace import compiled_rule

__all__ = ["EncodedWatches", "encode_watches"]

MESSAGE = struct.Struct("=" + MESSAGE_WATCH_FORMAT)
WATCH = struct.Struct("=" + WATCH_HEAD_FORMAT)
CAPTURE = struct.Struct("=" + CAPTURE_HEAD_FORMAT)


class EncodedWatches(NamedTuple):
    """What programs get."""

    message: bytes
    """What follows the head of the message."""

    file: bytes
    """What comes along."""


def encode_watches(
    plans: Sequence[NotifierPlan], counters: Sequence[int]
) -> EncodedWatches:
    """Write rules of triggers as the tracer reads them.

    Args:
        plans: The rules.
        counters: Of each, where matches are counted that find no room.

    Raises:
        SelectionError: They are too large.
    """
    rules = encode_rules([compiled_rule(one.rule) for one in plans])
    heads, captures, text = b"", b"", b""
    count = 0
    for plan, counter in zip(plans, counters, strict=True):
        heads += WATCH.pack(plan.token, counter, len(plan.captures))
        count += len(plan.captures)
        for one in plan.captures:
            name = _name(one)
            captures += CAPTURE.pack(_kind(one), one.element or 0, len(text), len(name))
            text += name
    message = MESSAGE.pack(len(rules), len(plans), count, len(text))
    return EncodedWatches(message, rules + heads + captures + text)


def _kind(capture: CapturePlan) -> Capture:
    # Contexts of the tracer are no arrays.
    if capture.kind != "payload-field":
        return Capture.CONTEXT
    return Capture.FIELD if capture.element is None else Capture.ELEMENT


def _name(capture: CapturePlan) -> bytes:
    if capture.kind == "payload-field":
        return capture.name.encode(errors="replace")
    if capture.element is not None:
        # There is no such value.
        return b""
    prefix = "$app." if capture.kind == "app-context" else ""
    return (prefix + capture.name).encode(errors="replace")
