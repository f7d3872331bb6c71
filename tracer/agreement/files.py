"""The names of files, and those files that several processes map."""

from __future__ import annotations

from .terms import I64, U64, Constant, Member, Structure

__all__ = ["CONSTANTS", "CONTROL", "LOSSES"]

_SLOTS = 16384
_PAGE = 4096

CONSTANTS = (
    Constant("METADATA_FILE", "metadata"),
    Constant(
        "CONTROL_FILE", ".control", about="Hidden, so that readers leave it alone."
    ),
    Constant("LOSSES_FILE", ".lost"),
    Constant("RULES_FILE", ".rules"),
    Constant("CLASS_LIST_FILE", ".event-classes"),
    Constant(
        "REFUSALS_FILE",
        ".refused",
        about="Lines of tracers that do not agree with the recorder: see settings.py.",
    ),
    Constant("LARGEST_REFUSALS", 1 << 16, about="Bytes from which on none is added."),
    Constant("OPEN_SUFFIX", ".open"),
    Constant("RING_PREFIX", "ring-"),
    Constant(
        "LOST_STREAM", "lost", about="The data stream of what no other could tell."
    ),
    Constant("BUDGET_SLOTS", _SLOTS, about="More chunks than these are not kept."),
)

CONTROL = Structure(
    "control",
    (
        Member("bytes", U64, qualifier="_Atomic"),
        Member(
            "memory",
            U64,
            qualifier="_Atomic",
            about="Of those: the packets that threads are filling.",
        ),
        Member(
            "kept",
            U64,
            qualifier="_Atomic",
            about="Of those: packets that are never taken away.",
        ),
        Member(
            "overwritten",
            U64,
            qualifier="_Atomic",
            about="Bytes that were taken away.",
        ),
        Member("head", U64, qualifier="_Atomic"),
        Member("tail", U64, qualifier="_Atomic"),
        Member("reserved", U64, 2),
        Member(
            "slots", U64, _SLOTS, qualifier="_Atomic", about="In overwrite mode only."
        ),
    ),
    about="The size of a recording, and the queue of what goes away first. The recorder makes "
    "the file, and reads it at the end.",
)

LOSSES = Structure(
    "losses",
    (
        Member("count", I64, qualifier="_Atomic"),
        Member(
            "pid_spaces",
            I64,
            _PAGE // 8 - 1,
            qualifier="_Atomic",
            about="Inodes of the PID namespaces of the recording, in the order in which they "
            "were seen.",
        ),
    ),
    about="What no stream could be told, over all processes.",
)
