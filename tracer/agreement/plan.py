"""Plans: where the entries of an object's functions are rewritten, and how.

The recorder makes one for each object, the tracer applies it; it decides nothing. A file holds a
header, then for each function, in the order of their places, its description, the code that is
moved and the numbers in that code that depend on where it lies. All parts begin at multiples of
eight bytes. An empty file is that of an object that is left alone.

A program that finds no file asks for one, over the socket where it could ask for an arena. The
answer is a byte: with a descriptor of the plan, or PLAN_NOTHING.
"""

from __future__ import annotations

from .terms import BYTE, CHARACTER, U8, U32, U64, Constant, Kind, Member, Structure

__all__ = ["CONSTANTS", "REQUEST", "REQUEST_CONSTANTS", "STRUCTURES"]

PLACE = Kind("uint64_t", "u64", "Q", 8, base=16)
BUILD_ID_BYTES = 64
JUMP_BYTES = 5
REPLACED_BYTES = 24
TOKEN_BYTES = 16
PATH_BYTES = 4008

CONSTANTS = (
    Constant("PLAN_MAGIC", "VESTPLN1"),
    Constant("PLAN_JUMP_BYTES", JUMP_BYTES, about="Of the jump at an entry."),
    Constant("PLAN_MOST_CODE", 240, about="Bytes of moved code."),
    Constant("PLAN_MOST_FUNCTIONS", 1 << 20),
)
REQUEST_CONSTANTS = (
    Constant("PLAN_OF_PROGRAM", 1, about="In a request: it is the program itself."),
    Constant(
        "PLAN_REFUSED",
        2,
        about="No request: a word that says why an object is left alone, a space, its name.",
    ),
    Constant("PLAN_NOTHING", "-", about="The answer where there is nothing to do."),
)

HEADER = Structure(
    "plan_header",
    (
        Member("magic", CHARACTER, 8),
        Member("size", U64, about="Bytes of the file."),
        Member("functions", U32, about="How many there are."),
        Member("build_id_size", U32, about="Bytes."),
        Member("build_id", BYTE, BUILD_ID_BYTES, about="Of the object."),
    ),
    about="How a plan begins.",
)
FUNCTION = Structure(
    "plan_function",
    (
        Member("address", PLACE, about="Where it begins, in the object."),
        Member("place", PLACE, about="Where the jump goes."),
        Member("replaced_size", U8, about="Bytes that the jump takes the place of."),
        Member("code_size", U8, about="Bytes of the moved code."),
        Member("fixups", U8, about="How many come after the code."),
        Member("flags", U8, about="See probes.py."),
        Member("padding", BYTE, 4),
        Member("replaced", BYTE, REPLACED_BYTES, about="What must be there before."),
    ),
    about="A function; its code and its fixups come after it.",
)
FIXUP = Structure(
    "plan_fixup",
    (
        Member("at", U32, about="Where in the moved code a distance of 32 bits is."),
        Member("padding", U32),
        Member(
            "target",
            PLACE,
            about="To where in the object the distance leads from the byte after it.",
        ),
    ),
    about="A number that depends on where the code lies.",
)
REQUEST = Structure(
    "plan_request",
    (
        Member(
            "token",
            BYTE,
            TOKEN_BYTES,
            about="That of the socket, with all bits the other way.",
        ),
        Member("flags", U32),
        Member("build_id_size", U32, about="Bytes."),
        Member("build_id", BYTE, BUILD_ID_BYTES, about="Of the object."),
        Member("path", CHARACTER, PATH_BYTES, about="With a zero at the end."),
    ),
    about="How a program asks for a plan.",
)
STRUCTURES = (HEADER, FUNCTION, FIXUP)
