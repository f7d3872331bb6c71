"""Prints the agreement as Python modules.

What the recorder needs for metadata is printed here as text, by the same code that writes the
metadata of :class:`vestige.ctf.Writer`: a recording must start at once, and imports neither.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from vestige.ctf.writing.tsdl import Tsdl
from vestige.model import (
    ArrayFieldClass,
    EnumerationFieldClass,
    EnumerationMapping,
    FieldClass,
    FloatFieldClass,
    IntegerFieldClass,
    StringFieldClass,
    StructureFieldClass,
    VariantFieldClass,
)
from vestige.model import Member as ClassMember

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
    F32,
    F64,
    TEXT,
    U64,
    Constant,
    Enumeration,
    Kind,
    Member,
    Structure,
    Union,
)

__all__ = ["expressions_module", "record_module", "registration_module"]

_MADE = (
    "Made by ``tools/make_agreement.py`` from ``tracer/agreement``: change it there, then "
    "say\n``make agreement``."
)
_TSDL = Tsdl("little")
"""The byte order is that of the trace; no field has another."""


def record_module(fingerprint: str) -> str:
    """Return the text of ``vestige/record/_agreement.py``.

    Args:
        fingerprint: That of the description.
    """
    constants = [
        *packet.CONSTANTS,
        *contexts.CONSTANTS,
        *filters.CONSTANTS,
        *files.CONSTANTS,
        *skipped.CONSTANTS,
        *settings.CONSTANTS,
        *probes.CONSTANTS,
    ]
    structures = [
        packet.PACKET,
        filters.INSTRUCTION,
        filters.RULES_HEAD,
        filters.RULE_HEAD,
        *plan.STRUCTURES,
        *probes.STRUCTURES,
    ]
    return "".join(
        [
            f'"""What the recorder and the tracer agree on.\n\n{_MADE}\n"""\n\n',
            "# ruff: noqa: E501 - as it is printed\n",
            "from __future__ import annotations\n\n",
            f"AGREEMENT = {_text(fingerprint)}\n",
            '"""That of the description; it goes with each recording."""\n\n',
            *_constants(constants),
            *(text for one in structures for text in _structure(one)),
            *_metadata(),
            *_contexts(),
            *_settings(),
            *_numbered("UNREACHED_REASONS", arena.REASONS),
            *_numbered("PROBE_PLACES", probes.PLACES),
            *_numbered("PROBE_TYPES", probes.TYPES),
        ]
    )


def registration_module() -> str:
    """Return the text of ``vestige/record/backends/registered/_agreement.py``."""
    return "".join(
        [
            f'"""What programs and a session daemon say.\n\n{_MADE}\n"""\n\n',
            "from __future__ import annotations\n\n",
            "from enum import IntEnum\n\n",
            *_constants(registration.CONSTANTS),
            *_enumeration("Message", registration.MESSAGES),
            *_enumeration("Joining", registration.JOINING),
            *_enumeration("Capture", registration.CAPTURES),
            "\n\n",
            *(text for one in registration.STRUCTURES for text in _structure(one)),
        ]
    )


def expressions_module() -> str:
    """Return the text of ``vestige/expressions/_agreement.py``."""
    limits = [
        one
        for one in filters.CONSTANTS
        if one.name in {"EXPRESSION_DEPTH", "MOST_INSTRUCTIONS"}
    ]
    return "".join(
        [
            f'"""The byte code of filters, as all that run it have it.\n\n{_MADE}\n"""\n\n',
            "# ruff: noqa: E501 - as it is printed\n",
            "from __future__ import annotations\n\n",
            "from enum import IntEnum\n\n",
            *_constants(limits),
            *_enumeration("Operation", filters.OPERATIONS),
        ]
    )


def _text(value: str) -> str:
    return json.dumps(value)


def _about(text: str) -> str:
    return f'"""{text}"""\n' if text else ""


def _constants(constants: Iterable[Constant]) -> Iterator[str]:
    for one in constants:
        value = _text(one.value) if isinstance(one.value, str) else f"{one.value:_}"
        yield f"{one.name} = {value}\n{_about(one.about)}"
    yield "\n"


def _enumeration(name: str, enumeration: Enumeration) -> Iterator[str]:
    yield f'\nclass {name}(IntEnum):\n    """{enumeration.about}"""\n\n'
    for value, number, about in enumeration.enumerators():
        yield f'    {value} = {number}\n    """{about}"""\n'


def _numbered(name: str, enumeration: Enumeration) -> Iterator[str]:
    """Yield the names of values by their numbers, without a type that takes an import."""
    yield f"{name} = {{\n"
    for value, number, _ in enumeration.enumerators():
        yield f"    {number}: {_text(value)},\n"
    yield f"}}\n{_about(enumeration.about)}"


def _structure(structure: Structure) -> Iterator[str]:
    """Yield the format of a structure for :mod:`struct`, its size and its offsets."""
    name = structure.name.upper()
    for suffix, code in _formats(structure):
        yield f"{name}{suffix}_FORMAT = {_text(code)}\n"
    yield f"{name}_SIZE = {structure.size}\n"
    yield f"{name}_OFFSETS = {{\n"
    for one, offset in structure.offsets():
        yield f"    {_text(one.name)}: {offset},\n"
    yield f"}}\n{_about(structure.about)}\n"


def _formats(structure: Structure) -> Iterator[tuple[str, str]]:
    """Yield formats without a byte order, one for each member of a union."""
    plain = [one for one in structure.members if isinstance(one, Member)]
    start = "".join(map(_code, plain))
    unions = [one for one in structure.members if isinstance(one, Union)]
    if not unions:
        yield "", start
    for union in unions:
        for one in union.members:
            if isinstance(one, Member):
                yield f"_{one.name.upper()}", start + _code(one)
            else:
                yield f"_{one[0].upper()}", start + "".join(map(_code, one[1]))


def _code(member: Member) -> str:
    return f"{member.length or ''}{member.kind.code}"


def _metadata() -> Iterator[str]:
    members = packet.PACKET.members
    header, context = members[: packet.HEADER_MEMBERS], members[packet.HEADER_MEMBERS :]
    parts = (
        ("PACKET_HEADER", header),
        ("PACKET_CONTEXT", context),
        ("PACKET_CONTEXT_OF_CPUS", packet.CPU_MEMBERS[packet.HEADER_MEMBERS :]),
    )
    for name, part in parts:
        yield f"{name} = (\n"
        for one in part:
            if isinstance(one, Member):
                yield f"    {_text(_declared(one.name, one))},\n"
        yield ")\n"
    yield '"""In TSDL, CTF 1.8.3, section 7; the name of the clock is to be filled in."""\n\n'
    yield "EVENTS: tuple[tuple[str, int, int | None, str], ...] = (\n"
    for event in events.EVENTS:
        fields = " ".join(map(_field, event.layout.fields))
        facts = (
            _text(event.name),
            str(event.level),
            str(event.layout.size),
            _text(fields),
        )
        yield f"    ({', '.join(facts)}),\n"
    yield ")\n"
    yield '"""Name, log level, bytes of the fields if they are always the same, and fields in\n'
    yield 'TSDL, in the order of the IDs."""\n'
    yield "FIELDS_WITH_ARGUMENTS = {\n"
    for event in events.EVENTS:
        if event.with_arguments:
            fields = " ".join(map(_field, event.with_arguments))
            yield f"    {_text(event.name)}: {_text(fields)},\n"
    yield '}\n"""Further fields, where arguments of Python functions are recorded."""\n\n'


def _field(member: Member) -> str:
    """Return a field of an event or a context, in TSDL."""
    if not member.has_length:
        return _declared(f"_{member.name}", member)
    length = f"_{member.name}_length"
    count = _TSDL.declaration(f"_{length}", _integer(64))
    return f"{count}; {_declared(f'_{member.name}', member, f'{length}')}"


def _declared(name: str, member: Member, length: int | str = 0) -> str:
    if member.is_time:
        size = member.size * 8
        number = _TSDL.declaration(name, _integer(size))
        return number.replace(" }", " map = clock.{clock}.value; }") + ";"
    return _TSDL.declaration(name, _field_class(member, length or member.length)) + ";"


def _field_class(member: Member, length: int | str) -> FieldClass:
    if member.kind is TEXT:
        return StringFieldClass(alignment=8, visible=True)
    kind = member.kind
    one = _integer(kind.size * 8, signed=kind.signed, base=kind.base)
    if not length:
        return one
    return ArrayFieldClass(
        alignment=8, visible=True, element=one, length=length, text=kind.is_text
    )


def _integer(size: int, *, signed: bool = False, base: int = 10) -> IntegerFieldClass:
    return IntegerFieldClass(
        alignment=8, visible=True, size=size, signed=signed, base=base, byte_order=None
    )


def _contexts() -> Iterator[str]:
    yield "CONTEXTS: tuple[tuple[str, int, str, str], ...] = (\n"
    for one in contexts.CONTEXTS:
        member = one.member
        facts = (
            _text(member.name),
            str(member.size),
            _text(_field(member)),
            _text(one.about),
        )
        yield f"    ({', '.join(facts)}),\n"
    yield ')\n"""Name, bytes, field in TSDL, and what it tells, in the order of records."""\n\n'
    field = _declared("{name}", Member("", U64))
    yield f'COUNTER_FIELD = {_text(field)}\n"""In TSDL; the name is to be filled in."""\n'
    yield f"APPLICATION_FIELDS = {_text(_application_fields())}\n"
    yield '"""The same of a context of an application."""\n'
    for name, is_of_kernel in (("KERNEL", True), ("PROCESSOR", False)):
        yield f"COUNTERS_OF_{name} = (\n"
        for counter in contexts.COUNTERS:
            if counter.is_of_kernel == is_of_kernel:
                yield f"    {_text(counter.name)},\n"
        yield ")\n"
    yield "\n"


def _application_fields() -> str:
    """Return a context of an application in TSDL: what it is, and then its value."""
    names = [f"_{name}" for name, _ in contexts.VALUES]
    tag = EnumerationFieldClass(
        alignment=8,
        visible=True,
        size=8,
        signed=True,
        base=10,
        byte_order=None,
        mappings=tuple(
            EnumerationMapping(name, number, number)
            for number, name in enumerate(names)
        ),
    )
    options = tuple(
        ClassMember(name, _value_class(kind))
        for name, (_, kind) in zip(names, contexts.VALUES, strict=True)
    )
    value = VariantFieldClass(
        alignment=1, visible=True, options=options, selector="{name}_tag"
    )
    tag_text = _TSDL.declaration("_{name}_tag", tag)
    return f"{tag_text}; {_TSDL.declaration('_{name}', value)};"


def _value_class(kind: Kind | None) -> FieldClass:
    if kind is None:
        return StructureFieldClass(alignment=1, visible=True, members=())
    if kind in {F32, F64}:
        return FloatFieldClass(alignment=8, visible=True, size=kind.size * 8)
    return _field_class(Member("", kind), 0)


def _settings() -> Iterator[str]:
    yield "SETTINGS = (\n"
    for one in settings.SETTINGS:
        yield f"    {_text(one.name)},\n"
    yield ')\n"""The words, in the order in which they are written."""\n'
    for choice in settings.CHOICES:
        words = ", ".join(map(_text, choice.words))
        yield f"{choice.name.upper()}_WORDS = ({words})\n"
