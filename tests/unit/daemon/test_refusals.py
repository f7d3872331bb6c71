"""The numbers of refusals are those of LTTng's header, which scripts compare."""

from __future__ import annotations

import re
from pathlib import Path

from vestige.daemon.refusals import REFUSALS

HEADER = Path(__file__).parents[3] / "control/include/lttng/lttng-error.h"
OTHER_NAMES = {
    "UNKNOWN": "UNK",
    "UNKNOWN_VERB": "UND",
    "KERNEL_NOT_AVAILABLE": "KERN_NA",
    "TRACKING_POLICY": "PROCESS_ATTR_TRACKER_INVALID_TRACKING_POLICY",
    "ALREADY_SUBSCRIBED": "UNK",
    "NOT_SUBSCRIBED": "UNK",
}
"""What the header calls them; it has no number for subscriptions."""


def test_each_number_is_that_of_the_header() -> None:
    """Names that differ are listed."""
    constants = re.findall(r"\bLTTNG_ERR_(\w+)\s*=\s*(\d+)", HEADER.read_text())
    numbers = {name: int(number) for name, number in constants}
    assert len(numbers) > 100

    wrong = {
        name: (refusal.status, numbers.get(OTHER_NAMES.get(name, name)))
        for name, refusal in REFUSALS.items()
        if refusal.status != numbers.get(OTHER_NAMES.get(name, name))
    }

    assert wrong == {}
