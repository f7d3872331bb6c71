"""Prints parts of the agreement in Rust."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from . import arena, events, filters, packet, plan
from .terms import Constant, Enumeration, Member, Structure, Union

__all__ = ["arena_module", "filter_module", "plan_module", "rust_structure"]

_HEAD = """\
//! What all that run filters agree on. Made by `tools/make_agreement.py` from
//! `tracer/agreement`: change it there, then say `make agreement`.

"""

_WIDTH = 96
_ARENA_HEAD = """\
//! The layout of an arena, which tracer and collector agree on. Made by
//! `tools/make_agreement.py` from `tracer/agreement`: change it there, then say
//! `make agreement`.

"""

_PLAN_HEAD = """\
//! The layout of plans, which tracer and recorder agree on. Made by
//! `tools/make_agreement.py` from `tracer/agreement`: change it there, then say
//! `make agreement`.

"""


def filter_module() -> str:
    """Return the text of ``vestige-ctf/src/filter/agreement.rs``."""
    constants = [one for one in filters.CONSTANTS if one.name == "EXPRESSION_DEPTH"]
    return "".join(
        [
            _HEAD,
            *map(rust_constant, constants),
            *_enumeration("Operation", filters.OPERATIONS),
        ]
    )


def arena_module() -> str:
    """Return the text of ``vestige-collector/src/agreement.rs``."""
    bits = (
        f"{_doc(value.about)}pub const {of.prefix}{value.name}: u32 = {value.value};\n"
        for of in (
            arena.STATES,
            arena.FLAGS,
            arena.SLOT_FLAGS,
            arena.CHUNK_FLAGS,
            arena.REASONS,
        )
        for value in of.enumerators()
    )
    structures = (packet.PACKET, *arena.STRUCTURES, plan.REQUEST)
    return "".join(
        [
            _ARENA_HEAD,
            *(rust_constant(one, "u32") for one in arena.CONSTANTS),
            *(rust_constant(one, "u32") for one in packet.STREAM_CLASSES),
            *(rust_constant(one, "u32") for one in _state_dump()),
            *bits,
            *(rust_constant(one, "u32") for one in plan.REQUEST_CONSTANTS),
            *(f"\n{rust_structure(one)}" for one in structures),
        ]
    )


def _state_dump() -> Iterator[Constant]:
    """Yield what the collector must know to tell itself what is loaded."""
    constants = {one.name: one for one in packet.CONSTANTS}
    yield constants["HEADER_EXTENDED"]
    times = 1 << int(constants["HEADER_TIME_BITS"].value)
    yield Constant(
        "COMPACT_TIMES", times, about="That a compact event header can tell."
    )
    for number, event in enumerate(events.EVENTS):
        if event.constant.startswith("DUMP_"):
            yield Constant(f"EVENT_{event.constant}", number)


def plan_module() -> str:
    """Return the text of ``vestige-plan/src/agreement.rs``."""
    return "".join(
        [
            _PLAN_HEAD,
            *(rust_constant(one) for one in plan.CONSTANTS),
            *(f"\n{rust_structure(one)}" for one in plan.STRUCTURES),
        ]
    )


def rust_constant(constant: Constant, kind: str = "usize") -> str:
    """Return a constant.

    Args:
        constant: Its description.
        kind: The type of a number.
    """
    about = _doc(constant.about)
    if isinstance(constant.value, str):
        return f'{about}pub const {constant.name}: &str = "{constant.value}";\n'
    return f"{about}pub const {constant.name}: {kind} = {constant.value};\n"


def _doc(text: str, indent: str = "") -> str:
    """Return a remark; nothing for none."""
    lines = textwrap.wrap(text, _WIDTH - len(indent))
    return "".join(f"{indent}/// {line}\n" for line in lines)


def _enumeration(name: str, enumeration: Enumeration) -> Iterator[str]:
    values = list(enumeration.enumerators())
    yield f"\n/// {enumeration.about}\n#[derive(Debug, Clone, Copy, PartialEq, Eq)]\n"
    yield f"#[repr(u16)]\npub enum {name} {{\n"
    for value, number, about in values:
        yield f"    /// {about}\n    {_camel(value)} = {number},\n"
    yield f"}}\n\nimpl {name} {{\n    /// In the order of their numbers.\n"
    yield f"    pub const ALL: [Self; {len(values)}] = [\n"
    for value, _, _ in values:
        yield f"        Self::{_camel(value)},\n"
    yield "    ];\n}\n"


def _camel(name: str) -> str:
    return name.title().replace("_", "")


def rust_structure(structure: Structure) -> str:
    """Return a structure whose layout the compiler checks.

    Values that C qualifies are plain numbers here: who maps memory of others reads and
    writes it through pointers, or as atomic values of the same size.

    Args:
        structure: Its description.
    """
    name = _camel(structure.name)
    lines = [_doc(structure.about) + "#[derive(Clone, Copy)]", "#[repr(C)]"]
    lines.append(f"pub struct {name} {{")
    lines += [
        f"{_doc(one.about, '    ')}    pub {one.name}: {_type(one)},"
        for one in structure.members
    ]
    lines.append("}\n")
    checks = [
        f"    assert!(core::mem::offset_of!({name}, {one.name}) == {offset});"
        for one, offset in structure.offsets()
    ]
    checks.append(f"    assert!(size_of::<{name}>() == {structure.size});")
    return "\n".join([*lines, "const _: () = {", *checks, "};\n"])


def _type(member: Member | Union) -> str:
    if isinstance(member, Union):
        return f"[u8; {member.size}]" if member.size != 8 else "u64"  # noqa: PLR2004 - a word
    kind = member.kind.rust
    return f"[{kind}; {member.length}]" if member.length else kind
