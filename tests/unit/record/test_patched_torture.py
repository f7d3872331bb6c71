"""What is hard for a tracer, done by programs whose entries of functions are rewritten.

Each seed chooses what the program does, how often, how it is compiled and how it is recorded.
"""

from __future__ import annotations

import random

import pytest

from support.patched import needs_patching
from support.recorded import without_losses
from support.tortured import (
    EXACT,
    IS_LONG,
    LOOSE,
    Ran,
    build_torture,
    run_traced,
    run_untraced,
)

pytestmark = [needs_patching, pytest.mark.timeout(600)]

SEEDS = range(1000 if IS_LONG else 6)
BUILDS = {
    "optimized": ["-g", "-O2", "-fno-ipa-cp", "-fno-ipa-sra"],
    "plain": ["-g", "-O0"],
}
COUNTED = [f"--patch={name}" for name in ("leaf", "deep", "late", "key_destructor")]
"""What the program counts."""
INTERRUPTED = ("signals", "jump", "preempted", "overflow")
NUMBERS = {
    **{mode: short for mode, short, _ in EXACT},
    **{mode: short for mode, short, _, _ in LOOSE},
    **dict.fromkeys(INTERRUPTED[:-1], 20_000),
    "overflow": 3,
}
"""What the program does, and how often at most."""
MAYBE = {mode: each for mode, _, _, each in LOOSE}
FORMS = ([], ["--entries"], ["-c", "ip,vpid,vtid"], ["--functions=verbose"])
SIZES = ("8k", "64k")


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """The torture program, by how it is compiled."""
    directory = tmp_path_factory.mktemp("torture")
    return {
        name: build_torture(directory / name, *flags) for name, flags in BUILDS.items()
    }


def unrecorded(ran: Ran, form: list[str]) -> int:
    """Return how many entries and exits are neither in the trace nor counted as lost."""
    if form != ["--entries"]:
        return ran.missing
    assert ran.events["func_exit"] == 0
    return ran.calls - ran.events["func_entry"] - ran.lost


def allowed(mode: str, number: int, ran: Ran) -> range:
    """Return how many may be missing: of those that are under way when a thread is left.

    A call that is left between its entry and where the program counts it is one too many.
    """
    if mode == "jump":
        return range(-2 * ran.jumps, 4 * ran.jumps + 1)
    if mode == "overflow":
        return range(-2 * number, number + 1)
    if mode == "signals":
        return range(-1 - ran.lost // 50, 1)
    if mode == "preempted":
        return range(-ran.calls // 100, ran.calls // 100 + 1)
    if mode == "seccomp":
        # As in test_torture.py.
        return range(-40, 1)
    each = MAYBE.get(mode, 0) * number
    return range(-each, each + 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_each_call_is_recorded_or_counted_as_lost(tmp_path, programs, seed):
    """Output and status are those of the program alone, whatever it does."""
    chosen = random.Random(seed)  # noqa: S311 - a choice that can be repeated
    mode = chosen.choice(sorted(NUMBERS))
    number = chosen.randint(1, NUMBERS[mode])
    program = programs[chosen.choice(sorted(programs))]
    form = chosen.choice(FORMS)
    options = [f"--buffer-size={chosen.choice(SIZES)}", *form, *COUNTED]
    command = [program, mode, str(number)]
    untraced = run_untraced(command, tmp_path)
    traced = run_traced(command, tmp_path, *options)

    what = f"{mode} {number} {program.name} {options}"
    assert (traced.status, traced.output) == (untraced.status, untraced.output), what
    assert (traced.damage, without_losses(traced.errors)) == ((), ""), what
    assert traced.calls > 0, what
    assert unrecorded(traced, form) in allowed(mode, number, traced), what


@pytest.mark.parametrize("options", [[], ["--patch=main"]])
@pytest.mark.parametrize(("mode", "others"), [("seccomp", 42), ("trap", 2)])
def test_calls_are_recorded_under_a_filter(tmp_path, programs, mode, others, options):
    """Where no shadow can be mapped, exits are recorded with their entries."""
    command = [programs["optimized"], mode, "1000"]
    traced = run_traced(command, tmp_path, *options, *COUNTED)

    assert traced.output == run_untraced(command, tmp_path).output
    assert -others <= traced.missing <= 0
