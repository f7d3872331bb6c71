"""The names of files."""

from __future__ import annotations

from .terms import Constant

__all__ = ["CONSTANTS"]

CONSTANTS = (
    Constant("METADATA_FILE", "metadata"),
    Constant(
        "ARENA_FILE",
        ".arena-data",
        about="Where there is no shared memory; hidden, so that readers leave it alone.",
    ),
    Constant("ARENA_IN_DIRECTORY", "."),
    Constant("ARENAS_FILE", ".arena", about="Names the arenas of a recording."),
    Constant(
        "REFUSALS_FILE",
        ".refused",
        about="Lines of tracers that do not agree with the recorder: see settings.py.",
    ),
    Constant("LARGEST_REFUSALS", 1 << 16, about="Bytes from which on none is added."),
    Constant(
        "PLANS_DIRECTORY",
        ".plans",
        about="Has a plan for each object, named after its build ID: see plan.py.",
    ),
    Constant("OPEN_SUFFIX", ".open"),
    Constant("RING_PREFIX", "ring-"),
    Constant(
        "LOST_STREAM", "lost", about="The data stream of what no other could tell."
    ),
)
