"""Prints the agreement as a C header."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from . import (
    arena,
    contexts,
    events,
    files,
    filters,
    packet,
    plan,
    probes,
    registration,
    settings,
    skipped,
)
from .terms import (
    PLACE,
    TEXT,
    Constant,
    Enumeration,
    Layout,
    Member,
    Structure,
    Union,
)

__all__ = ["arena_header", "c_header", "plan_header", "registration_header"]

_HEAD = """\
/*
 * What the recorder and the tracer agree on. Made by tools/make_agreement.py from the modules
 * in this folder: change it there, then say 'make agreement'.
 */
#ifndef VESTIGE_AGREEMENT_H
#define VESTIGE_AGREEMENT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* That of the description; it goes with each recording. */
"""

_REGISTRATION_HEAD = """\
/*
 * What programs and a session daemon say to each other. Made by tools/make_agreement.py from
 * registration.py in this folder: change it there, then say 'make agreement'.
 */
#ifndef VESTIGE_AGREEMENT_REGISTRATION_H
#define VESTIGE_AGREEMENT_REGISTRATION_H

#include <stddef.h>
#include <stdint.h>

"""

_PLACE = """\
/* A place in the program, in 48 bits. No store may reach over its end: what comes after it may
 * be a record of a signal handler. */
static inline char *encode_place(char *at, uint64_t place)
{
	const uint16_t high = (uint16_t) (place >> 32);
	const uint32_t low = (uint32_t) place;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	memcpy(at, &low, sizeof(low));
	memcpy(at + sizeof(low), &high, sizeof(high));
#else
	memcpy(at, &high, sizeof(high));
	memcpy(at + sizeof(high), &low, sizeof(low));
#endif
	return at + PLACE_SIZE;
}

"""

_ARENA_HEAD = """\
/*
 * The arena, see docs/formats/arena.md. Made by tools/make_agreement.py from arena.py in this
 * folder: change it there, then say 'make agreement'.
 */
#ifndef VESTIGE_AGREEMENT_ARENA_H
#define VESTIGE_AGREEMENT_ARENA_H

#include <pthread.h>

#include "agreement.h"

"""

_PLAN_HEAD = """\
/*
 * Plans for the entries of functions, and probes. Made by tools/make_agreement.py from plan.py and
 * probes.py in this folder: change it there, then say 'make agreement'.
 */
#ifndef VESTIGE_AGREEMENT_PLAN_H
#define VESTIGE_AGREEMENT_PLAN_H

#include <stddef.h>
#include <stdint.h>

"""

_LIFE = """\
/* A robust mutex, shared by processes, which a thread holds as long as it lives: the kernel
 * sets FUTEX_OWNER_DIED in its first word when the thread ends, however it does. */
union arena_life {
	pthread_mutex_t mutex;
	_Atomic uint32_t word;
	char reserved[64];
};

_Static_assert(sizeof(union arena_life) == 64, "a line of the cache");

"""

_WIDTH = 96


def c_header(fingerprint: str) -> str:
    """Return the text of ``agreement.h``.

    Args:
        fingerprint: That of the description.
    """
    return "".join(
        [
            _HEAD,
            f'#define AGREEMENT "{fingerprint}"\n\n',
            _title("Packets, see docs/formats/recording.md."),
            *_constants(packet.CONSTANTS),
            *_structure(packet.PACKET),
            _title("Event record classes, the same in each recording."),
            *_events(),
            _PLACE,
            *(text for one in events.layouts() for text in _layout(one)),
            _title("Contexts, and the counters among them."),
            *_constants(contexts.CONSTANTS),
            *_contexts(),
            _title("Filters and rules."),
            *_constants(filters.CONSTANTS),
            *_enumeration(filters.OPERATIONS),
            *_structure(filters.INSTRUCTION),
            *_structure(filters.RULES_HEAD),
            *_structure(filters.RULE_HEAD),
            _title("Files."),
            *_constants(files.CONSTANTS),
            _title("Settings."),
            *_constants(skipped.CONSTANTS),
            *_constants(settings.CONSTANTS),
            *_settings(),
            "#endif\n",
        ]
    )


def arena_header() -> str:
    """Return the text of ``arena.h``."""
    return "".join(
        [
            _ARENA_HEAD,
            *_constants(arena.CONSTANTS),
            *_enumeration(arena.STATES),
            *_enumeration(arena.FLAGS),
            *_enumeration(arena.SLOT_FLAGS),
            *_enumeration(arena.CHUNK_FLAGS),
            *_enumeration(arena.REASONS),
            _LIFE,
            *(text for one in arena.STRUCTURES for text in _structure(one)),
            "#endif\n",
        ]
    )


def plan_header() -> str:
    """Return the text of ``plan.h``."""
    return "".join(
        [
            _PLAN_HEAD,
            *_constants((*plan.CONSTANTS, *plan.REQUEST_CONSTANTS)),
            *(
                text
                for one in (*plan.STRUCTURES, plan.REQUEST)
                for text in _structure(one)
            ),
            _title("Probes."),
            *_constants(probes.CONSTANTS),
            *(text for one in probes.ENUMERATIONS for text in _enumeration(one)),
            *(text for one in probes.STRUCTURES for text in _structure(one)),
            "#endif\n",
        ]
    )


def registration_header() -> str:
    """Return the text of ``registration.h``."""
    return "".join(
        [
            _REGISTRATION_HEAD,
            *_constants(registration.CONSTANTS),
            *_enumeration(registration.MESSAGES),
            *_enumeration(registration.JOINING),
            *_enumeration(registration.CAPTURES),
            *(text for one in registration.STRUCTURES for text in _structure(one)),
            "#endif\n",
        ]
    )


def _title(text: str) -> str:
    return f"/* --- {text.rstrip('.')} --- */\n\n"


def _comment(text: str, indent: str = "") -> str:
    if not text:
        return ""
    lines = textwrap.wrap(text, _WIDTH - 8 * len(indent) - 6)
    return f"{indent}/* " + f"\n{indent} * ".join(lines) + " */\n"


def _constants(constants: Iterable[Constant]) -> Iterator[str]:
    for one in constants:
        value = f'"{one.value}"' if isinstance(one.value, str) else _number(one.value)
        yield f"{_comment(one.about)}#define {one.name} {value}\n"
    yield "\n"


def _number(value: int) -> str:
    return f"0x{value:X}u" if value >= 1 << 31 else f"{value}u"


def _enumeration(enumeration: Enumeration) -> Iterator[str]:
    yield f"{_comment(enumeration.about)}enum {enumeration.name} {{\n"
    for name, number, about in enumeration.enumerators():
        yield f"{_comment(about, '	')}\t{enumeration.prefix}{name} = {number},\n"
    if enumeration.last:
        yield f"\t{enumeration.last},\n"
    yield "};\n\n"


def _structure(structure: Structure) -> Iterator[str]:
    yield f"{_comment(structure.about)}struct {structure.name} {{\n"
    for one in structure.members:
        yield _comment(one.about, "\t")
        yield "".join(_union(one)) if isinstance(one, Union) else _member(one, "\t")
    yield "};\n\n"
    for one, offset in structure.offsets():
        yield (
            f"_Static_assert(offsetof(struct {structure.name}, {one.name}) == {offset}, "
            f'"{structure.name}.{one.name}");\n'
        )
    yield (
        f"_Static_assert(sizeof(struct {structure.name}) == {structure.size}, "
        f'"{structure.name}");\n\n'
    )


def _member(member: Member, indent: str) -> str:
    qualifier = f"{member.qualifier} " if member.qualifier else ""
    length = f"[{member.length}]" if member.length else ""
    return f"{indent}{qualifier}{member.kind.c} {member.name}{length};\n"


def _union(union: Union) -> Iterator[str]:
    yield "\tunion {\n"
    for one in union.members:
        if isinstance(one, Member):
            yield _member(one, "\t\t")
            continue
        name, parts = one
        members = "".join(_member(part, "\t\t\t") for part in parts)
        yield f"\t\tstruct {{\n{members}\t\t}} {name};\n"
    yield f"\t}} {union.name};\n"


def _events() -> Iterator[str]:
    yield "enum event_class {\n"
    for number, event in enumerate(events.EVENTS):
        yield f"{_comment(event.about, '	')}\tEVENT_{event.constant} = {number},\n"
    yield _comment("How many there are, and the first of those of tracepoints.", "\t")
    yield "\tEVENT_CLASSES,\n};\n\n"


def _layout(layout: Layout) -> Iterator[str]:
    """Yield the size of the fields, and a function that writes them.

    Texts are given with their sizes, which count the zero at their ends.
    """
    names = ", ".join(
        event.name for event in events.EVENTS if event.layout.name == layout.name
    )
    yield _comment(f"The fields of {names}.")
    name = layout.name.upper()
    if layout.size is None:
        fixed = sum(
            8 if one.has_length else one.size
            for one in layout.fields
            if one.kind is not TEXT
        )
        sizes = [f"{one.name}_size" for one in layout.fields if _is_long(one)]
        terms = [f"{fixed}u"] if fixed else []
        total = " + ".join([*terms, *(f"({size})" for size in sizes)])
        yield f"#define {name}_FIELDS_SIZE({', '.join(sizes)}) ({total})\n"
    else:
        yield f"#define {name}_FIELDS_SIZE {layout.size}u\n"
    parameters = ", ".join(["char *at", *map(_parameter, layout.fields)])
    start = f"static inline char *encode_{layout.name}("
    lines = textwrap.wrap(
        start + parameters.replace(" ", "\1").replace(",\1", ", "),
        _WIDTH - 16,
        subsequent_indent="\t\t",
    )
    yield "\n".join(lines).replace("\1", " ") + ")\n{\n"
    last = layout.fields[-1]
    for one in layout.fields:
        yield from _put(one, is_last=one is last)
    yield "}\n\n"


def _is_long(member: Member) -> bool:
    return member.kind is TEXT or member.has_length


def _parameter(member: Member) -> str:
    if member.kind is TEXT:
        return f"const char *{member.name}, size_t {member.name}_size"
    if member.has_length:
        return f"const void *{member.name}, uint64_t {member.name}_size"
    if member.length:
        return f"const void *{member.name}"
    return f"{member.kind.c} {member.name}"


def _put(member: Member, *, is_last: bool) -> Iterator[str]:
    start = "return " if is_last else "at = "
    name = member.name
    if member.kind is PLACE:
        yield f"\t{start}encode_place(at, {name});\n"
        return
    if member.has_length:
        yield f"\tmemcpy(at, &{name}_size, sizeof({name}_size));\n"
        yield f"\tat += sizeof({name}_size);\n"
    if _is_long(member):
        source, size = name, f"{name}_size"
    elif member.length:
        source, size = name, f"{member.size}u"
    else:
        source, size = f"&{name}", f"sizeof({name})"
    yield f"\tmemcpy(at, {source}, {size});\n"
    yield f"\treturn at + {size};\n" if is_last else f"\tat += {size};\n"


def _contexts() -> Iterator[str]:
    yield "/* Bits of those that are asked for; counters have the bits above. */\n"
    yield "enum context {\n"
    for number, one in enumerate(contexts.CONTEXTS):
        yield f"\tCONTEXT_{one.member.name.upper()} = 1 << {number},\n"
    yield "};\n\n"
    yield f"#define CONTEXTS {len(contexts.CONTEXTS)}u\n"
    yield "/* Name and size of each, in the order in which they are written. */\n"
    yield "#define CONTEXT_TABLE \\\n"
    rows = [f'\t{{"{c.member.name}", {c.member.size}u}},' for c in contexts.CONTEXTS]
    yield " \\\n".join(rows) + "\n\n"
    yield "/* What a context of an application may be. */\n"
    yield "enum application_type {\n"
    for name, _ in contexts.VALUES:
        yield f"\tAPPLICATION_{name.upper()},\n"
    yield "\tAPPLICATION_TYPES,\n};\n\n"
    sizes = ", ".join(str(kind.size if kind else 0) for _, kind in contexts.VALUES)
    yield "/* Bytes of each; a string has those that it has. */\n"
    yield f"#define APPLICATION_SIZES {sizes}\n\n"
    yield "/* Name of each counter, and where the tracer has it from. */\n"
    yield "#define COUNTER_TABLE \\\n"
    rows = [f'\t{{"{one.name}", {one.source}}},' for one in contexts.COUNTERS]
    yield " \\\n".join(rows) + "\n\n"


def _settings() -> Iterator[str]:
    for choice in settings.CHOICES:
        prefix = choice.name.upper()
        words = ", ".join(f'"{word}"' for word in choice.words)
        names = ", ".join(f"{prefix}_{word.upper()}" for word in choice.words)
        yield f"#define {prefix}_WORDS {words}\n"
        yield f"enum {choice.name}_word {{ {names} }};\n\n"
    yield "/* Each word is read by parse_NAME() of settings_words.c. */\n"
    yield "#define FOR_EACH_SETTING(of) \\\n"
    rows = [
        f'\tof({one.name.replace("-", "_")}, "{one.name}")' for one in settings.SETTINGS
    ]
    yield " \\\n".join(rows) + "\n\n"
