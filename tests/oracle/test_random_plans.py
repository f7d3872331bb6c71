"""Plans of native components, made by chance, print what they print with Babeltrace 2."""

from __future__ import annotations

import os
from random import Random

import pytest

from support.peers import run_peer
from support.recordings import DATA
from support.vestige_command import comparing_peer_with_itself, vestige

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("babeltrace_peer")]

FIRST_SEED = 1
PLANS = int(os.environ.get("VESTIGE_RANDOM_PLANS", "5"))
"""How many plans are compared; each takes about half a second."""

TRACES = sorted(
    found.parent
    for name in ("fields", "hello", "lost", "threads-pid")
    for found in (DATA / name).rglob("metadata")
)
"""Traces in which no object is unmapped: there, places of objects before that stay."""
SECOND = 10**9
TIMES = (
    (1795245627_871895000, 1795245627_871898000),
    (1795245629_977000000, 1795245630_204000000),
    (1795245713_487474000, 1795245713_490656000),
    (1795245600 * SECOND, 1795245720 * SECOND),
)
"""Ranges of time with events of one of them, and with all; nanoseconds."""


class Words:
    """The words of ``run`` for a plan."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.words: list[str] = []
        self.count = 0
        self.is_trimmed = False
        """Whether there is a range of time on the way to the next component."""

    def part(self, class_name: str, *params: str) -> str:
        """Add a component; return its name."""
        name = f"p{self.count}"
        self.count += 1
        self.words += ["-c", f"{name}:{class_name}"]
        for one in params:
            self.words += ["-p", one]
        return name

    def connect(self, upstream: str, downstream: str) -> str:
        """Connect two components; return the second."""
        self.words += ["-x", f"{upstream}:{downstream}"]
        return downstream

    def time(self) -> str:
        """Return a time, sometimes outside of all events."""
        seconds, rest = divmod(
            self.chance.randrange(*self.chance.choice(TIMES)), SECOND
        )
        return f'"{seconds}.{rest:09}"'

    def filters(self, last: str, most: int) -> str:
        """Put some filters behind a component; return the last one."""
        for _ in range(self.chance.randrange(most + 1)):
            kind = self.chance.choice(["trimmer", "debug-info", "muxer"])
            if kind == "trimmer":
                # There, one behind another one is an error.
                if self.is_trimmed:
                    continue
                self.is_trimmed = True
                ends = sorted([self.time(), self.time()])
                names = self.chance.choice([("begin", "end"), ("begin",), ("end",)])
                params = [
                    f"{name}={text}" for name, text in zip(names, ends, strict=False)
                ]
                one = self.part("filter.utils.trimmer", *params)
            elif kind == "debug-info":
                name = self.chance.choice(["debug_info", "a", "b"])
                params = [f'debug-info-field-name="{name}"']
                one = self.part("filter.lttng-utils.debug-info", *params)
            else:
                one = self.part("filter.utils.muxer")
            last = self.connect(last, one)
        return last


def plan_words(seed: int) -> list[str]:
    """Return a plan: sources, each with filters, a muxer, filters, a sink."""
    chance = Random(seed)  # noqa: S311 - not for secrets
    plan = Words(chance)
    whole = plan.part("filter.utils.muxer")
    is_trimmed = False
    for path in chance.sample(TRACES, chance.randrange(1, 4)):
        plan.is_trimmed = False
        source = plan.part("source.ctf.fs", f'inputs=["{path}"]')
        muxer = plan.connect(source, plan.part("filter.utils.muxer"))
        plan.connect(plan.filters(muxer, 2), whole)
        is_trimmed |= plan.is_trimmed
    plan.is_trimmed = is_trimmed
    last = plan.filters(whole, 3)
    sinks = [
        "text.pretty",
        "text.pretty",
        "utils.counter",
        "utils.dummy",
    ]
    plan.connect(last, plan.part(f"sink.{chance.choice(sinks)}"))
    return plan.words


@pytest.mark.parametrize("seed", range(FIRST_SEED, FIRST_SEED + PLANS))
def test_a_plan_prints_what_it_prints_there(seed):
    """All of it, with the same status."""
    words = plan_words(seed)
    expected = run_peer(["babeltrace2", "run", *words])
    found = expected if comparing_peer_with_itself() else vestige("run", *words)

    assert found.stdout == expected.stdout
    assert found.status == expected.status
