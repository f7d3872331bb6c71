"""Where an event goes whose routes change between its filters and its record."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool
from support.own_programs import Ordered, ordered, wait_for_listed
from support.session_daemon import SessionDaemon, say
from vestige.record.development import compile_flags, link_flags

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)
WITHOUT_FILTER, WITH_FILTER = 1, 2
"""How often the text is looked at until the record begins."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that waits where it is told to."""
    program = tmp_path_factory.mktemp("gated") / "gated"
    words = ["gcc", f"-I{PROGRAMS}", *compile_flags(), PROGRAMS / "gated.c"]
    run_tool([*words, "-o", program, *link_flags(), "-llttng-ust"])
    return program


@pytest.fixture
def gated(daemon: SessionDaemon, built: Path) -> Iterator[Ordered]:
    """That program, registered."""
    with ordered(daemon, built) as one:
        wait_for_listed(daemon, one)
        yield one


def create(daemon: SessionDaemon, output: Path, **filters: str) -> None:
    """Create sessions, each with a filter."""
    for name, rule in filters.items():
        say(
            daemon,
            f"create {name} --output={output / name}",
            f"enable-channel -u -s {name} --subbuf-size=4k c",
            f"enable-event -u -s {name} -c c gated:step {rule}",
        )


def emit(
    daemon: SessionDaemon, program: Ordered, number: int, look: int = 0, do: str = ""
) -> None:
    """Emit an event, and change a session when it has been looked at."""
    stdin, stdout = program.process.stdin, program.process.stdout
    assert stdin is not None
    assert stdout is not None
    print(number, look, file=stdin, flush=True)
    if look:
        assert stdout.readline() == "held\n"
        say(daemon, do)
        print(file=stdin, flush=True)
    assert stdout.readline() == f"{number}\n"


def numbers(trace: Path) -> list[object]:
    """Return those of all events of the program."""
    events = vestige.open(trace)
    return [event["number"] for event in events if event.name == "gated:step"]


def test_what_has_passed_for_another_session_goes_to_none_with_filters(
    daemon: SessionDaemon, gated: Ordered, tmp_path: Path
):
    """The other one ends then, and the event needs no route any more."""
    create(daemon, tmp_path, a="--filter number<0", b="")
    say(daemon, "start a", "start b")
    emit(daemon, gated, 1, WITH_FILTER, "stop b")
    for number in (2, -3):
        emit(daemon, gated, number)
    say(daemon, "destroy --all")
    assert numbers(tmp_path / "a") == [-3]


def test_what_has_passed_is_recorded_while_others_begin_and_end(
    daemon: SessionDaemon, gated: Ordered, tmp_path: Path
):
    """It had no route, or another one."""
    rule = "--filter number>=0"
    create(daemon, tmp_path, a=rule, b=rule, c=rule)
    say(daemon, "start a")
    does = ["start b", "start c", "stop b", "stop c"]
    for number, do in enumerate(does):
        emit(daemon, gated, number, WITH_FILTER, do)
    say(daemon, "destroy --all")
    assert numbers(tmp_path / "a") == [*range(len(does))]


def test_what_was_not_taken_is_of_no_later_event(
    daemon: SessionDaemon, gated: Ordered, tmp_path: Path
):
    """Which filters it had passed is kept, but at its record there were none."""
    create(daemon, tmp_path, a="", b="--filter number>=0", c="")
    say(daemon, "start a", "start b")
    emit(daemon, gated, 1, WITH_FILTER, "stop b")
    say(daemon, "start c")
    emit(daemon, gated, 2, WITHOUT_FILTER, "start b")
    say(daemon, "destroy --all")
    assert [numbers(tmp_path / name) for name in ("a", "c")] == [[1, 2], [2]]
