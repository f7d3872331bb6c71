"""Recordings that were killed: what is left of them in memory joins the trace."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from .._suppress import suppress
from .._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from ..record.collected import Collected

__all__ = ["recover_abandoned"]

REGISTER = ".arena"
"""Names the memory of a recording, as ``vestige.record`` has it, too: hardly any trace
has it, and what knows more of it takes time to import."""

LEFT = (
    "its session daemon was killed: what programs have recorded since then is in "
    "memory, and the next daemon writes it"
)


def recover_abandoned(
    paths: Iterable[str | os.PathLike[str]],
) -> Iterator[tuple[str, Collected | str]]:
    """Complete the recordings among some paths whose collector was killed.

    Nothing is done while their programs go on, or if a path is that of a copy: what is
    in the trace has to do then.

    Args:
        paths: Paths of traces, and others.

    Yields:
        The path of a recording, and what was recovered from one of its memories, or why
        it was left there.
    """
    for given in paths:
        path = os.fspath(given)
        if not os.path.isfile(os.path.join(path, REGISTER)):  # noqa: PTH113, PTH118 - start-up
            if os.path.isdir(os.path.join(path, "ust")):  # noqa: PTH112, PTH118 - start-up
                yield from _left_by_daemons(path)
            continue
        from ..record.backends.in_process.recovery import (  # noqa: PLC0415 - see above
            recover_if_abandoned,
        )

        recovered, reasons = recover_if_abandoned(path)
        for one in recovered:
            yield path, one
        for reason in reasons:
            yield path, reason


def _left_by_daemons(path: str) -> Iterator[tuple[str, Collected | str]]:
    """Yield what sessions have left below a path.

    With the session of a daemon that was killed, the next one goes on. One that was
    destroyed when the disk was full belongs to nobody, and is completed.
    """
    for kind in ("uid/*/*/*", "pid/*/*"):
        for register in _registers(path, kind):
            # Hardly any session has one.
            from ..record.backends.in_process.recovery import (  # noqa: PLC0415 - see above
                is_ended,
                is_left,
                recover_if_abandoned,
            )

            if not is_left(register.parent):
                continue
            if not is_ended(register.parent):
                yield path, LEFT
                return
            recovered, reasons = recover_if_abandoned(register.parent)
            for one in recovered:
                yield path, one
            for reason in reasons:
                yield path, reason


def _registers(path: str, kind: str) -> Iterator[Path]:
    """Yield the registers of a session's traces, as far as they are there.

    A session that goes on may be rotated or cleared meanwhile.
    """
    from pathlib import Path  # noqa: PLC0415 - see above

    with suppress(OSError):
        yield from Path(path, "ust").glob(f"{kind}/{REGISTER}")
