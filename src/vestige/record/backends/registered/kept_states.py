"""What snapshots tell of programs, in a file: a daemon that is killed leaves it."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

from ...._typing import TYPE_CHECKING
from .loaded_state import LoadedState, ToldProgram

if TYPE_CHECKING:
    from collections.abc import Mapping

    Object = tuple[int, int, bytes, bool, bytes, tuple[bytes, int] | None]

__all__ = ["KeptStates"]

FILE = "loaded"
MOST_BYTES = 32 << 20
"""Of the file: 4,096 programs have some 8 MiB."""
ROOM = 64
"""Programs that are added before the file is written anew, and one more for each that
it has: those that were forgotten meanwhile are in it, too."""
MOST_NUMBER = 1 << 64
MOST_PROCESS = 1 << 31


class KeptStates:
    """The file of one session: a line for each program, of which the last one counts.

    What cannot be written is missing after a kill, and nowhere else.

    Args:
        folder: A directory of the daemon alone.
    """

    def __init__(self, folder: str) -> None:
        self._path = Path(folder, FILE)
        self._room = 0

    def write(self, programs: Mapping[int, ToldProgram], loaded: LoadedState) -> None:
        """Write all programs, in place of what is there.

        Args:
            programs: By process.
            loaded: What they have loaded.
        """
        lines = [_line(one, loaded) for one in programs.values()]
        size = 0
        for number, line in enumerate(reversed(lines)):
            size += len(line)
            if size > MOST_BYTES // 2:
                # The newest ones stay.
                lines = lines[len(lines) - number :]
                break
        new = self._path.with_suffix(".new")
        with suppress(OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            new.write_bytes(b"".join(lines))
            new.replace(self._path)
            self._room = len(lines) + ROOM

    def add(
        self,
        program: ToldProgram,
        programs: Mapping[int, ToldProgram],
        loaded: LoadedState,
    ) -> None:
        """Write one program more.

        Args:
            program: The program.
            programs: All of them, should there be no more room.
            loaded: What they have loaded.
        """
        self._room -= 1
        if self._room < 0:
            self.write(programs, loaded)
            return
        with suppress(OSError), self._path.open("ab") as file:
            if file.tell() < MOST_BYTES:
                file.write(_line(program, loaded))

    def read(self) -> tuple[dict[int, ToldProgram], LoadedState]:
        """Return the programs, and what they have loaded; nothing if that is unknown.

        Lines that make no sense are left out.
        """
        programs: dict[int, ToldProgram] = {}
        objects: dict[int, list[Object]] = {}
        data = b""
        with suppress(OSError), self._path.open("rb") as file:
            data = file.read(MOST_BYTES)
        for line in data.splitlines():
            # RecursionError: brackets without end.
            with suppress(ValueError, TypeError, KeyError, RecursionError):
                told = json.loads(line)
                program, own = _program(told), [*map(_object, told["objects"])]
                # The order is that in which they came.
                programs.pop(program.pid, None)
                programs[program.pid], objects[program.pid] = program, own
        return programs, LoadedState(objects)


def _line(program: ToldProgram, loaded: LoadedState) -> bytes:
    """Return the line of a program, which also ends one that was not written whole."""
    objects = [
        [base, size, path.hex(), is_pic, build_id.hex(), link and _hex_of(link)]
        for base, size, path, is_pic, build_id, link in loaded.objects(program.pid)
    ]
    members = {
        **program._asdict(),
        "name": os.fsencode(program.name).hex(),
        "arenas": [*program.arenas],
        "objects": objects,
    }
    return b"\n" + json.dumps(members).encode() + b"\n"


def _hex_of(link: tuple[bytes, int]) -> tuple[str, int]:
    return link[0].hex(), link[1]


def _program(told: dict[str, object]) -> ToldProgram:
    arenas = told["arenas"]
    if not isinstance(arenas, list):
        raise TypeError(arenas)
    return ToldProgram(
        _number(told["pid"], MOST_PROCESS),
        _number(told["vpid"], MOST_PROCESS),
        _number(told["pid_namespace"], MOST_NUMBER),
        os.fsdecode(_bytes(told["name"])),
        frozenset(_number(one, MOST_NUMBER) for one in arenas),
    )


def _object(told: list[object]) -> Object:
    base, size, path, is_pic, build_id, link = told
    known = None
    if isinstance(link, list):
        name, checksum = link
        known = _bytes(name), _number(checksum, 1 << 32)
    return (
        _number(base, MOST_NUMBER),
        _number(size, MOST_NUMBER),
        _bytes(path),
        is_pic is True,
        _bytes(build_id),
        known,
    )


def _number(value: object, end: int) -> int:
    if not isinstance(value, int) or not 0 <= value < end:
        raise ValueError(value)
    return value


def _bytes(value: object) -> bytes:
    if not isinstance(value, str):
        raise TypeError(value)
    return bytes.fromhex(value)
