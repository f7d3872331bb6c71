"""What an index says in JSON: functions, processes, losses."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...damage import Damage
from ...graph import LostNotice, Stream
from ...units import Address
from ..call_reader import Names
from ..functions import Function

__all__ = ["StoredFunction", "function_ids", "read_facts", "write_facts"]


@dataclass(frozen=True, slots=True, eq=False)
class StoredFunction(Function):
    """A function of an index: its place is known as text alone."""

    stored_source: str | None = None
    """The source file and the line of its beginning."""
    stored_object: str | None = None
    """The path of its object on the traced machine."""

    @property
    def source(self) -> str | None:
        """The source file and the line of its beginning."""
        return self.stored_source

    @property
    def object(self) -> str | None:
        """The path of its object on the traced machine."""
        return self.stored_object


def function_ids(functions: Sequence[Function]) -> tuple[list[int], list[Function]]:
    """Give functions numbers; the same one has the same number.

    Args:
        functions: The functions of a fold.

    Returns:
        The number of each, and the functions by number.
    """
    numbers: dict[Function, int] = {}
    ids = [numbers.setdefault(one, len(numbers)) for one in functions]
    return ids, list(numbers)


def write_facts(  # noqa: PLR0913 - what an index says
    functions: Sequence[Function],
    names: Names,
    losses: Sequence[LostNotice],
    streams: Sequence[Stream],
    damage: Sequence[Damage] = (),
    *,
    has_codes: bool,
) -> bytes:
    """Return what an index says.

    Args:
        functions: The functions, by number.
        names: Names of processes, by process space and process ID; and of threads.
        losses: What was lost.
        streams: The data streams, in the order of the muxer.
        damage: What could not be read.
        has_codes: Whether there are functions of Python.
    """
    numbers = {id(stream): number for number, stream in enumerate(streams)}
    facts = {
        "functions": [
            [one.name, one.object, one.source, one.address] for one in functions
        ],
        "processes": [[*process, name] for process, name in names[0].items()],
        "threads": [[*thread, name] for thread, name in names[1].items()],
        "losses": [
            [numbers.get(id(one.stream)), one.begin, one.end, one.count, one.kind]
            for one in losses
        ],
        "damage": damage,
        "codes": has_codes,
    }
    return json.dumps(facts, separators=(",", ":")).encode()


def read_facts(data: bytes) -> dict[str, Any]:
    """Return what an index says: functions, names of processes, losses, damage.

    Args:
        data: What :func:`write_facts` returned.

    Raises:
        ValueError: It is anything else.
    """
    facts = json.loads(data)
    try:
        functions = [
            StoredFunction(
                name=str(name),
                address=None if address is None else Address(int(address)),
                stored_object=None if path is None else str(path),
                stored_source=None if source is None else str(source),
            )
            for name, path, source, address in facts["functions"]
        ]
        names = {
            (int(space), int(pid)): str(name) for space, pid, name in facts["processes"]
        }
        threads = {
            (int(space), int(pid), int(tid)): str(name)
            for space, pid, tid, name in facts["threads"]
        }
        losses = [(*map(_number, times), str(kind)) for *times, kind in facts["losses"]]
        damage = [_damage(*one) for one in facts["damage"]]
        has_codes = bool(facts["codes"])
    except (KeyError, TypeError) as error:
        raise ValueError("not what an index says") from error
    return {
        "functions": functions,
        "names": names,
        "threads": threads,
        "losses": losses,
        "damage": damage,
        "codes": has_codes,
    }


def _damage(  # noqa: PLR0913, PLR0917 - what is known of it
    path: object,
    start: object,
    end: object,
    kind: object,
    message: object,
    lost_records: object,
    lost_from: object,
    lost_until: object,
) -> Damage:
    place = _number(start), _number(end)
    lost = _number(lost_records), _number(lost_from), _number(lost_until)
    return Damage(str(path), *place, str(kind), str(message), *lost)


def _number(value: object) -> int | None:
    return None if value is None else int(value)  # type: ignore[call-overload] # a TypeError is what is wanted
