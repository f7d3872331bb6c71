"""Babeltrace 2 reads our recordings, without a word, and finds the same places."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool, split_by_debug_link
from support.lttng import (
    DEBUG_INFO_CONTEXTS,
    DL_HELPER,
    STATE_DUMP_EVENTS,
    Channel,
    LttngEnvironment,
    Program,
)
from support.peers import babeltrace
from support.plugins import Plugins, build_plugins
from support.recorded import run_recorded
from support.vestige_command import convert

PROVIDERS = {"lttng_ust_statedump", "lttng_ust_lib"}

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(shutil.which("gcc") is None, reason="not installed: gcc"),
    pytest.mark.usefixtures("babeltrace_peer"),
]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program whose functions are instrumented, with DWARF that the peer reads."""
    path = tmp_path_factory.mktemp("recorded") / "recorded"
    flags = ["-gdwarf-4", "-O1", "-finstrument-functions", "-pthread"]
    run_tool(["gcc", *flags, "-o", path, PROGRAMS / "recorded.c"])
    return path


@pytest.fixture(scope="module")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> Plugins:
    """A program and the plugins that it loads."""
    return build_plugins(tmp_path_factory.mktemp("plugins"))


@pytest.mark.parametrize("what", ["threads", "fork", "signals"])
@pytest.mark.parametrize("functions", ["fast", "verbose"])
def test_the_text_is_the_same(
    tmp_path: Path, program: Path, what: str, functions: str
) -> None:
    """Of several threads, processes and packets, with places."""
    run_recorded(
        tmp_path / "trace",
        [program, what, "300"],
        f"--functions={functions}",
        "--buffer-size=8k",
    )
    theirs = babeltrace(tmp_path / "trace", "--debug-info")
    ours = convert(tmp_path / "trace", "--debug-info")

    assert (theirs.status, theirs.stderr) == (0, b"")
    assert b'func = "leaf+0", src = "recorded.c:' in theirs.stdout
    assert ours.stderr == b""
    assert own_places(ours.stdout) == own_places(theirs.stdout)


@pytest.mark.parametrize("how", ["reload", "threads", "caller", "forked"])
def test_plugins_have_the_same_places(
    tmp_path: Path, plugins: Plugins, how: str
) -> None:
    """Where they are loaded again, at other bases and in child processes.

    Two at one base are left to our own tests: the peer keeps its first answer, see
    docs/differences.md.
    """
    words: dict[str, list[str | Path]] = {
        "reload": ["3", plugins.alpha],
        "threads": ["20", plugins.alpha, plugins.alpha],
        "caller": ["libsecret.so"],
        "forked": [plugins.alpha],
    }
    run_recorded(
        tmp_path / "trace", [plugins.program, how, *words[how]], "-e", "*", "-q"
    )
    theirs = babeltrace(tmp_path / "trace", "--debug-info")
    ours = convert(tmp_path / "trace", "--debug-info")

    assert (theirs.status, theirs.stderr) == (0, b"")
    assert b'func = "plugin_run+0", src = "plugin.c:' in theirs.stdout
    assert own_places(ours.stdout) == own_places(theirs.stdout)
    assert all(b'src = "' in line for line in own_places(ours.stdout))
    assert b'src = ""' not in b"".join(own_places(ours.stdout))


def test_objects_are_told_as_lttng_tells_them(
    tmp_path: Path, lttng: LttngEnvironment, plugins: Plugins
) -> None:
    """The same fields of the program, the vDSO, libraries and plugins."""
    linked = tmp_path / "linked.so"
    shutil.copy(plugins.alpha, linked)
    split_by_debug_link(linked, tmp_path)
    command: list[str | Path] = [
        plugins.program,
        "reload",
        "1",
        plugins.bravo,
        linked,
    ]
    helper = "liblttng-ust-cyg-profile-fast.so"
    theirs = lttng.record(
        tmp_path / "theirs",
        [Program(command, [helper, DL_HELPER])],
        [Channel(contexts=DEBUG_INFO_CONTEXTS, events=STATE_DUMP_EVENTS)],
    )
    run_recorded(tmp_path / "ours", command, "-q")
    expected, found = objects_in(theirs), objects_in(tmp_path / "ours")
    both = expected.keys() & found.keys()

    assert {
        "loading",
        "libcaller.so",
        "[linux-vdso.so.1]",
        "bravo.so",
        "linked.so",
    } <= both
    assert {name: found[name] for name in both} == {
        name: expected[name] for name in both
    }


def objects_in(trace: Path) -> dict[str, list[tuple[str, dict[str, object]]]]:
    """Return what is told of each object, but for its base and LTTng's own calls."""
    found: dict[str, list[tuple[str, dict[str, object]]]] = {}
    names: dict[object, str] = {}
    for event in vestige.open(trace, debug_info=False):
        if (event.name or "").partition(":")[0] not in PROVIDERS:
            continue
        fields = dict(event.payload)
        base = fields.pop("baddr", None)
        if base is None:
            continue
        if "path" in fields:
            names[base] = Path(str(fields["path"])).name
        found.setdefault(names[base], []).append((event.name or "", fields))
    return found


def own_places(text: bytes) -> list[bytes]:
    """Return the lines whose places both tools know: those of function calls."""
    return [line for line in text.splitlines() if b":func_" in line]
