"""Rules hold for function calls and helpers as they do under LTTng."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool
from support.lttng import (
    DL_HELPER,
    Channel,
    LttngEnvironment,
    Program,
    missing_requirement,
)
from support.plugins import build_plugins
from support.recorded import run_recorded

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(missing_requirement() is not None, reason="needs LTTng"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="not installed: gcc"),
]

FAST, VERBOSE = "lttng_ust_cyg_profile_fast", "lttng_ust_cyg_profile"
LIBC, DL, PTHREAD = "lttng_ust_libc", "lttng_ust_dl", "lttng_ust_pthread"
LIBRARIES = {
    FAST: "liblttng-ust-cyg-profile-fast.so",
    VERBOSE: "liblttng-ust-cyg-profile.so",
    LIBC: "liblttng-ust-libc-wrapper.so",
    DL: DL_HELPER,
    PTHREAD: "liblttng-ust-pthread-wrapper.so",
}
OPTIONS = {
    FAST: [],
    VERBOSE: ["--functions=verbose"],
    LIBC: ["--libc"],
    DL: ["--dl"],
    PTHREAD: ["--pthread"],
}
POINTERS = {"ptr", "in_ptr", "out_ptr", "baddr", "mutex"}
ANYWHERE = 1 << 32
"""Above are objects that have another address in each run."""
OF_FUNCTIONS = (
    ["{p}:*"],
    ["{p}:func_entry"],
    ["{p}:*", "--exclude={p}:func_entry"],
    ["{p}:*", "--loglevel=DEBUG_FUNCTION"],
    ["{p}:*", "--loglevel=INFO"],
    ["{p}:*", "--loglevel-only=DEBUG_FUNCTION"],
    ["{p}:*", "--loglevel-only=DEBUG_LINE"],
    ["{p}:*", "--filter=addr == {inner}"],
    ["*:func_*", "--filter=addr != {inner} && addr > 0"],
    ["{p}:func_*", "--filter=call_site >= {outer} && call_site < {main}"],
    ["{p}:*", '--filter=$ctx.procname == "rul*"'],
    ["{p}:*", "--filter=$ctx.vpid != $ctx.vtid"],
    ["{p}:*", "--filter=size > 3"],
)
OF_MEMORY = (
    ["{p}:*"],
    ["{p}:malloc"],
    ["{p}:*alloc", "--exclude={p}:m*"],
    ["{p}:*", "--loglevel=DEBUG_LINE"],
    ["{p}:*", "--loglevel=INFO"],
    ["{p}:malloc", "--filter=size > 6000"],
    ["{p}:*", "--filter=size > 20"],
    ["{p}:*", "--filter=nmemb & 1 == 1"],
    ["{p}:free", '--filter=$ctx.procname == "ruled"'],
    ["*", "--filter=size == 8 || size == 17"],
)
OF_MUTEXES = (
    ["{p}:*"],
    ["{p}:*lock", "--exclude={p}:*try*"],
    ["{p}:*", "--loglevel-only=DEBUG_LINE"],
    ["{p}:*", "--loglevel-only=INFO"],
    ["{p}:*", "--filter=status != 0"],
    ["{p}:*", '--filter=$ctx.procname == "help*" && mutex != 0'],
)
OF_PLUGINS = (
    ["{p}:*"],
    ["{p}:dl*", '--filter=path == "*alpha*"'],
    ["{p}:*", "--exclude={p}:build_id,{p}:debug_link"],
    ["{p}:dlopen", "--filter=memsz > 0 && has_build_id == 1"],
    ["{p}:dlopen", "--filter=memsz == 0"],
    ["{p}:*", "--loglevel=INFO"],
    ["{p}:dlclose", "--filter=$ctx.vpid == $ctx.vtid"],
)
Event = tuple[str, dict[str, Any]]


@pytest.fixture(scope="module")
def lttng() -> Iterator[LttngEnvironment]:
    """A session daemon."""
    with LttngEnvironment() as running:
        yield running


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program whose functions have the same addresses in each run."""
    path = tmp_path_factory.mktemp("ruled") / "ruled"
    flags = ["-g", "-O1", "-fno-builtin", "-no-pie", "-finstrument-functions"]
    run_tool(["gcc", *flags, "-o", path, PROGRAMS / "ruled.c"])
    return path


def places(program: Path) -> dict[str, str]:
    """Return the addresses of functions."""
    lines = run_tool(["nm", program]).decode().splitlines()
    rows = (line.split() for line in lines)
    return {row[-1]: f"0x{row[0]}" for row in rows if len(row) == 3}


def own_events(trace: Path, provider: str, file: Path) -> list[Event]:
    """Return the events that come from the program, without addresses that vary."""
    found = []
    for event in vestige.open(trace):
        if not (event.name or "").startswith(f"{provider}:"):
            continue
        if Path(event.debug_info.binary.host_path).name != file.name:
            continue
        payload = {
            name: int(value) != 0
            if name in POINTERS or (name == "call_site" and int(value) > ANYWHERE)
            else value
            for name, value in event.payload.items()
        }
        found.append((str(event.name), payload))
    return found


def under_lttng(
    lttng: LttngEnvironment,
    output: Path,
    provider: str,
    rules: Sequence[Sequence[str]],
    command: Sequence[str | Path],
) -> list[list[Event]]:
    """Record once, with a channel for each rule; return what each has."""
    channels = [
        Channel(
            name=f"rule{index:02}",
            sub_buffer_size="256K",
            sub_buffer_count=2,
            contexts=("ip", "vpid"),
            events=["lttng_ust_nothing:*", "lttng_ust_statedump:*"],
        )
        for index in range(len(rules))
    ]
    with lttng.session(output, channels, name=output.name) as session:
        for channel, rule in zip(channels, rules, strict=True):
            where = [f"--session={session}", f"--channel={channel.name}"]
            lttng.run(["lttng", "enable-event", "--userspace", *where, *rule])
        lttng.run_program(Program(command, preload=[LIBRARIES[provider]]))
    metadata = next(output.rglob("metadata"))
    found = []
    for channel in channels:
        part = output.parent / f"{output.name}-{channel.name}"
        part.mkdir()
        for path in (metadata, *metadata.parent.glob(f"{channel.name}_*")):
            shutil.copy(path, part / path.name)
        found.append(own_events(part, provider, Path(command[0])))
    return found


def compare(
    lttng: LttngEnvironment,
    directory: Path,
    provider: str,
    rules: Sequence[Sequence[str]],
    command: Sequence[str | Path],
) -> list[int]:
    """Record with both; return how many events each rule took."""
    theirs = under_lttng(lttng, directory / f"of-{provider}", provider, rules, command)
    for index, rule in enumerate(rules):
        trace = directory / f"ours{index}"
        options = OPTIONS[provider]
        run_recorded(trace, command, "-q", *options, "-e", *rule)
        assert own_events(trace, provider, Path(command[0])) == theirs[index], rule
    return [len(events) for events in theirs]


def filled(rules: Sequence[Sequence[str]], **words: str) -> list[list[str]]:
    """Return rules with names and addresses in them."""
    return [[word.format_map(words) for word in rule] for rule in rules]


@pytest.mark.parametrize("provider", [FAST, VERBOSE])
def test_function_calls(
    tmp_path: Path, lttng: LttngEnvironment, program: Path, provider: str
) -> None:
    """By name, exclusion, level, fields and contexts."""
    rules = filled(OF_FUNCTIONS, p=provider, **places(program))
    counts = compare(lttng, tmp_path, provider, rules, [program])

    assert counts[0] > counts[7] > 0
    assert counts[4] == counts[6] == counts[11] == counts[12] == 0


def test_memory(tmp_path: Path, lttng: LttngEnvironment, program: Path) -> None:
    """The helper makes no other events than those that rules take."""
    counts = compare(lttng, tmp_path, LIBC, filled(OF_MEMORY, p=LIBC), [program])

    assert counts[0] > counts[5] > 0
    assert counts[4] == 0


def test_mutexes(tmp_path: Path, lttng: LttngEnvironment) -> None:
    """By status and pointer."""
    program = tmp_path / "helped"
    flags = ["-g", "-O1", "-pthread"]
    run_tool(["gcc", *flags, "-o", program, PROGRAMS / "helped.c"])
    rules = filled(OF_MUTEXES, p=PTHREAD)
    counts = compare(lttng, tmp_path, PTHREAD, rules, [program, "mutexes"])

    assert counts[0] == counts[2] == counts[5] > counts[1] > 0
    assert counts[3] == 0


def test_plugins(tmp_path: Path, lttng: LttngEnvironment) -> None:
    """By texts and numbers."""
    plugins = build_plugins(tmp_path)
    command = [plugins.program, "counted", plugins.alpha]
    counts = compare(lttng, tmp_path, DL, filled(OF_PLUGINS, p=DL), command)

    assert counts[1] > 0
    assert counts[4] == counts[5] == 0


def random_filters(source: random.Random, names: dict[str, str]) -> Iterator[str]:
    """Make filters of the fields of calls, as LTTng 2.13 evaluates them too."""
    addresses = [names[name] for name in ("inner", "outer", "main", "allocate")]

    def comparison() -> str:
        field = source.choice(("addr", "call_site"))
        if source.randrange(3):
            sign = source.choice(("==", "!=", "<", "<=", ">", ">="))
            return f"{field} {sign} {source.choice((*addresses, '0', '4198400'))}"
        mask = source.choice((1, 15, 255, 4095))
        return f"{field} & {mask} {source.choice(('==', '>'))} {source.randrange(mask)}"

    while True:
        parts = [comparison() for _ in range(source.randrange(1, 5))]
        if len(parts) > 1:
            # There, bits beside && or || make some filters false.
            parts = [part for part in parts if "&" not in part] or parts[:1]
        text = parts[0]
        for part in parts[1:]:
            text = source.choice((f"{text} && {part}", f"({text}) || {part}"))
        yield source.choice((text, f"!({text})")) if "&" not in text else text


def test_random_filters_of_calls(
    tmp_path: Path, lttng: LttngEnvironment, program: Path
) -> None:
    """Of which nobody thought."""
    source = random.Random(14)  # noqa: S311 - no secrets
    made = random_filters(source, places(program))
    filters = [next(made) for _ in range(16)]
    rules = [[f"{VERBOSE}:*", f"--filter={one}"] for one in filters]
    counts = compare(lttng, tmp_path, VERBOSE, rules, [program])

    assert len(set(counts)) > 3
    assert re.search("[&|]", "".join(filters))
