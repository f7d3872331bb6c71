"""What snapshots tell is in a file that the next daemon reads, whatever it holds."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from vestige.record.backends.registered import kept_states
from vestige.record.backends.registered.kept_states import FILE, ROOM, KeptStates
from vestige.record.backends.registered.loaded_state import LoadedState, ToldProgram

OBJECTS = [
    (0x1000, 0x2000, b"/bin/\xff program", True, b"\x01" * 20, (b"debug", 2**32 - 1)),
    (2**64 - 9, 8, b"/lib", False, b"", None),
]


def program(pid: int) -> ToldProgram:
    """Return a program."""
    return ToldProgram(pid, pid + 1, 2**64 - 1, "n\udcff", frozenset({1, 2**63}))


def kept(folder: Path, *pids: int) -> KeptStates:
    """Write programs that have loaded the same."""
    states = KeptStates(str(folder))
    programs = {pid: program(pid) for pid in pids}
    states.write(programs, LoadedState(dict.fromkeys(pids, OBJECTS)))
    return states


def test_what_was_written_is_read(tmp_path):
    """With names of any bytes, and the largest numbers."""
    folder = tmp_path / "not" / "there"
    kept(folder, 3, 2)
    programs, loaded = KeptStates(str(folder)).read()
    assert [*programs.values()] == [program(3), program(2)]
    assert loaded.processes == [2, 3]
    assert loaded.objects(3) == OBJECTS


def test_the_last_of_a_process_counts(tmp_path):
    """Also as the one that came last."""
    states = kept(tmp_path, 1, 2)
    states.add(program(1), {}, LoadedState({1: OBJECTS[1:]}))
    programs, loaded = states.read()
    assert [*programs] == [2, 1]
    assert loaded.objects(1) == OBJECTS[1:]


def test_a_line_that_was_not_written_whole_hides_no_other(tmp_path):
    """As of a daemon that was killed, or of a file system that was full."""
    states = kept(tmp_path, 1, 2)
    file = tmp_path / FILE
    file.write_bytes(file.read_bytes()[:-9])
    states.add(program(3), {}, LoadedState({3: OBJECTS}))
    assert [*states.read()[0]] == [1, 3]


def test_the_file_does_not_grow_without_end(tmp_path):
    """Programs come, and only one is left each time."""
    states = KeptStates(str(tmp_path))
    sizes = []
    for pid in range(1, 10 * ROOM):
        loaded = LoadedState({pid: OBJECTS})
        states.add(program(pid), {pid: program(pid)}, loaded)
        sizes.append((tmp_path / FILE).stat().st_size)
    assert max(sizes) < (ROOM + 2) * (sizes[0] + 10)
    assert 10 * ROOM - 1 in states.read()[0]


def test_the_newest_have_room(tmp_path, monkeypatch):
    """Where there is not enough for all."""
    monkeypatch.setattr(kept_states, "MOST_BYTES", 1000)
    states = kept(tmp_path, *range(100, 150))
    programs, _ = states.read()
    assert 149 in programs
    assert len(programs) < 10
    for pid in range(150, 160):
        states.add(program(pid), {}, LoadedState({pid: OBJECTS}))
    assert (tmp_path / FILE).stat().st_size < 2000


def test_what_cannot_be_written_is_left_out(tmp_path):
    """Nobody is held up by it."""
    (tmp_path / "file").touch()
    states = kept(tmp_path / "file", 1)
    states.add(program(1), {}, LoadedState({}))
    programs, loaded = states.read()
    assert not programs
    assert not loaded.processes


def _changes() -> list[dict[str, Any]]:
    wrong: list[dict[str, Any]] = [
        {member: value}
        for member in ("pid", "vpid", "pid_namespace", "name", "arenas", "objects")
        for value in (None, -1, 2**64, 1.5, "x", [[]], {}, [None])
    ]
    for index in range(6):
        for value in (None, -1, 2**64, 1.5, "x", [1], {}, ["00", 2**32]):
            one: list[Any] = [1, 2, "2f", True, "", None]
            one[index] = value
            wrong.append({"objects": [one]})
    return wrong


def test_what_makes_no_sense_is_left_out(tmp_path):
    """And hides nothing else."""
    kept(tmp_path, 1)
    file = tmp_path / FILE
    whole = file.read_bytes()
    told = json.loads(whole)
    for change in _changes():
        line = json.dumps({**told, "pid": 7, **change}).encode()
        file.write_bytes(b"\n" + line + b"\n" + whole)
        programs, loaded = KeptStates(str(tmp_path)).read()
        assert programs[1] == program(1)
        assert {*programs} == {*loaded.processes} <= {1, 7}
        assert loaded.objects(1) == OBJECTS


def test_any_bytes_are_read(tmp_path):
    """Whatever somebody has done to the file."""
    kept(tmp_path, *range(1, 5))
    file = tmp_path / FILE
    whole = file.read_bytes()
    chance = random.Random(1)  # noqa: S311 - no secrets
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(chance.randrange(1, 9)):
            data[chance.randrange(len(data))] = chance.choice(b'[]{}",:0-9\n\\e\xff')
        file.write_bytes(data)
        programs, loaded = KeptStates(str(tmp_path)).read()
        assert {*programs} == {*loaded.processes}
    for text in (b"[" * 10**6, b"9" * 10**5, b'{"pid":' * 10**5, b"\0\n\n"):
        file.write_bytes(text)
        assert not KeptStates(str(tmp_path)).read()[0]


def test_objects_that_cannot_be_are_left_out():
    """Beyond the end of memory, with zeros in their names, or with long build IDs."""
    fine = OBJECTS[1]
    wrong = [
        (2**64 - 1, 1, b"/", True, b"", None),
        (1, 1, b"/\0", True, b"", None),
        (1, 1, b"/", True, bytes(65), None),
        (1, 1, b"/", True, b"", (b"\0", 1)),
    ]
    assert LoadedState({1: [*wrong, fine]}).objects(1) == [fine]
    assert [one[0] for one in LoadedState({1: OBJECTS[::-1]}).objects(1)] == [
        one[0] for one in OBJECTS
    ]
    with pytest.raises(OverflowError):
        LoadedState({1: [(2**64, 0, b"", True, b"", None)]})
    with pytest.raises(TypeError):
        LoadedState({1: [(1, "", b"", True, b"", None)]})  # type: ignore[list-item]
