"""Probes: functions of which arguments and results are recorded.

The recorder knows from debug information, or is told, where they are when a function is
entered; the tracer copies them. One file in the directory of plans has all probes: a header, then
each probe with its values after it. The functions are planned, too, and marked there.
"""

from __future__ import annotations

from .plan import BUILD_ID_BYTES, PLACE
from .terms import (
    BYTE,
    CHARACTER,
    I64,
    U8,
    U32,
    U64,
    Constant,
    Enumeration,
    Member,
    Structure,
    Value,
)

__all__ = ["CONSTANTS", "ENUMERATIONS", "STRUCTURES"]

CONSTANTS = (
    Constant("PROBES_FILE", "probes", about="In the directory of plans."),
    Constant("PROBES_MAGIC", "VESTPRB1"),
    Constant("PROBE_PROVIDER", "vestige_probe", about="Of their events."),
    Constant(
        "PLAN_PROBED", 1, about="Flag of a planned function: it is that of a probe."
    ),
    Constant("MOST_PROBES", 256),
    Constant("MOST_PROBE_VALUES", 16, about="Of one probe, without the result."),
    Constant(
        "LONGEST_PROBE_TEXT", 255, about="Bytes of a string that are read at most."
    ),
    Constant("PROBE_HAS_ENTRY", 1, about="Flag: there is an event at the entry."),
    Constant("PROBE_HAS_RESULT", 2, about="Flag: there is one at the exit."),
    Constant(
        "PROBE_HAS_CALLS", 4, about="Flag: calls of the function are recorded, too."
    ),
)
PLACES = Enumeration(
    "probe_place",
    "PROBE_IN_",
    tuple(map(Value, ("REGISTER", "VECTOR", "STACK", "NOTHING", "RESULT"))),
    about="Where a value is.",
)
TYPES = Enumeration(
    "probe_type",
    "PROBE_IS_",
    tuple(map(Value, ("SIGNED", "UNSIGNED", "POINTER", "FLOAT", "TEXT"))),
    about="What it is.",
)
ENUMERATIONS = (PLACES, TYPES)
HEADER = Structure(
    "probes_header",
    (
        Member("magic", CHARACTER, 8),
        Member("size", U64, about="Bytes of the file."),
        Member("probes", U32, about="How many there are."),
        Member("padding", U32),
    ),
    about="How the file begins.",
)
PROBE = Structure(
    "probe_head",
    (
        Member("address", PLACE, about="Where the function begins, in the object."),
        Member("build_id_size", U32, about="Bytes."),
        Member("values", U32, about="How many follow, with the result."),
        Member("flags", U32),
        Member("padding", U32),
        Member("build_id", BYTE, BUILD_ID_BYTES, about="Of the object."),
        Member("name", CHARACTER, 208, about="Of its event, ended by a zero."),
    ),
    about="A probe.",
)
VALUE = Structure(
    "probe_value",
    (
        Member("place", U8),
        Member("type", U8),
        Member("size", U8, about="Bytes."),
        Member("number", U8, about="Of the register, as DWARF counts."),
        Member("padding", U32),
        Member(
            "offset",
            I64,
            about="On the stack, from above the return address; or what it always is.",
        ),
        Member("name", CHARACTER, 64, about="Of its field, ended by a zero."),
    ),
    about="A value of it.",
)
STRUCTURES = (HEADER, PROBE, VALUE)
