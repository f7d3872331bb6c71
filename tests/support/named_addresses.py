"""Whether all addresses of a trace have names, for ourselves and for Babeltrace 2."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import NamedTuple

import polars as pl

import vestige

from .peers import babeltrace

__all__ = ["Named", "named"]


class Named(NamedTuple):
    """The events of a trace."""

    events: int
    unnamed: int
    """Those without the name of a function, as Vestige has them."""

    unplaced: int
    """Those of which Babeltrace 2 does not say in which object their code is."""

    processes: set[int]
    """Of which processes they are."""

    damage: list[str]
    """What readers say of the trace beside that."""


def named(trace: Path, event: str) -> Named:
    """Read a trace alone.

    Args:
        trace: Its directory.
        event: The full name of the events that count; each has an address.
    """
    if not any(trace.rglob("metadata")):
        return Named(0, 0, 0, set(), [])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read = vestige.open(trace)
        if event not in read.event_names:
            return Named(0, 0, 0, set(), [*map(str, read.damage)])
        table = read.to_arrow(["event", "process", "debug_info"]).to_polars()
    found = table.filter(pl.col("event") == event)
    function = pl.col("debug_info").struct.field("func").cast(pl.String)
    unnamed = found.filter(function.is_null() | (function == "")).height
    peer = babeltrace(trace, "--debug-info")
    lines = [one for one in peer.stdout.decode().splitlines() if f" {event}: " in one]
    unplaced = [one for one in lines if not re.search(r'bin = "[^"]', one)]
    damage = [*map(str, read.damage)]
    if peer.status or len(lines) != found.height:
        damage.append(f"{peer.status}, {len(lines)}: {peer.stderr.decode()[:1000]}")
    processes = {int(one) for one in found["process"].unique()}
    return Named(found.height, unnamed, len(unplaced), processes, damage)
