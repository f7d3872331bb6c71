"""The recordings that the comparisons with real tools use, by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from support.lttng import Buffers
from support.recipes import (
    ALL_CONTEXTS,
    Recording,
    Workshop,
    record_assorted,
    record_crowd,
    record_fields,
    record_forking,
    record_functions,
    record_greeting,
    record_lengthy,
    record_losses,
    record_lost_packets,
    record_lost_records,
    record_reload,
    record_shapes,
    record_threads,
    record_toolchains,
)

Recorder = Callable[[Workshop, str], Recording]
Recordings = Callable[[str], Recording]

RECORDERS: dict[str, Recorder] = {
    "greeting": record_greeting,
    "fields": record_fields,
    "contexts": partial(record_fields, contexts=ALL_CONTEXTS),
    "threads": record_threads,
    "processes": partial(record_threads, processes=3, workers=2, steps=300),
    "processes-pid": partial(
        record_threads, buffers=Buffers.PER_PROCESS, processes=3, workers=2, steps=300
    ),
    "forking": record_forking,
    "forking-pid": partial(record_forking, buffers=Buffers.PER_PROCESS),
    "functions": record_functions,
    "functions-fast": partial(record_functions, fast=True),
    "lengthy": record_lengthy,
    "crowd": record_crowd,
    "assorted": record_assorted,
    "shapes": record_shapes,
    "reload": record_reload,
    "lost-records": record_lost_records,
    "lost-packets": record_lost_packets,
    "losses": record_losses,
    "toolchains": record_toolchains,
}
