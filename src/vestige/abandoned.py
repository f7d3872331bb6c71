"""Recordings that were killed: what is left of them in memory joins the trace."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .record.collected import Collected

__all__ = ["recover_abandoned"]

REGISTER = ".arena"
"""Names the memory of a recording, as ``vestige.record`` has it, too: hardly any trace
has it, and what knows more of it takes time to import."""


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
            continue
        from .record.backends.in_process.recovery import (  # noqa: PLC0415 - see above
            recover_if_abandoned,
        )

        recovered, reasons = recover_if_abandoned(path)
        for one in recovered:
            yield path, one
        for reason in reasons:
            yield path, reason
