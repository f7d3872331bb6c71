"""Answers for addresses as text: for people, for ``addr2line`` users, as JSON."""

from __future__ import annotations

from collections.abc import Iterator

from ..._typing import TYPE_CHECKING, NamedTuple
from ...plain_text import plain

if TYPE_CHECKING:
    from ...debuginfo import Frame, Symbolized

__all__ = ["Addr2lineStyle", "addr2line_lines", "json_line", "people_lines"]

UNKNOWN = "??"
NARROW_BITS = 32
MANGLED = ("_Z", "_R", "_D")
"""How mangled names of C++, Rust and D begin."""


class Addr2lineStyle(NamedTuple):
    """What ``addr2line`` prints: its options of the same names."""

    functions: bool = False
    """Names of functions."""
    inlines: bool = False
    """All frames, not only the innermost."""
    addresses: bool = False
    """The address first."""
    base_names: bool = False
    """Files without their directories."""
    demangle: bool = False
    """Readable names instead of those of the linker."""
    pretty: bool = False
    """One line a frame."""


def addr2line_lines(answer: Symbolized, style: Addr2lineStyle) -> Iterator[str]:
    """Write an answer in the form of GNU ``addr2line``.

    Args:
        answer: The answer.
        style: The form.

    Yields:
        The lines.
    """
    digits = 8 if answer.bits == NARROW_BITS else 16
    address = f"0x{answer.address or 0:0{digits}x}" if style.addresses else ""
    if address and not style.pretty:
        yield address
    frames = answer.frames if style.inlines else answer.frames[:1]
    for index, (name, place) in enumerate(_pairs(frames, style)):
        if not style.pretty:
            if style.functions:
                yield name
            yield place
            continue
        head = " (inlined by) " if index else address + ": " if address else ""
        joint = " at " if frames else " "
        yield head + (f"{name}{joint}{place}" if style.functions else place)


def _pairs(
    frames: tuple[Frame, ...], style: Addr2lineStyle
) -> Iterator[tuple[str, str]]:
    for frame in frames:
        name, symbol = frame.function, frame.linkage_name
        # Of a C function the symbol may be that of a clone, such as "f.part.0".
        if symbol and symbol.startswith(MANGLED) and not style.demangle:
            name = symbol
        yield (
            name or UNKNOWN,
            _place(frame, base_names=style.base_names),
        )
    if not frames:
        yield UNKNOWN, f"{UNKNOWN}:0"


def _place(frame: Frame, *, base_names: bool) -> str:
    file = frame.file or UNKNOWN
    if base_names:
        file = file.rpartition("/")[2] or file
    return f"{file}:{frame.line or '?'}"


def people_lines(answer: Symbolized, *, demangle: bool, verbose: bool) -> Iterator[str]:
    """Write an answer for people.

    Args:
        answer: The answer.
        demangle: Whether names are readable instead of those of the linker.
        verbose: Whether to say why something is missing.

    Yields:
        The lines; those of the frames around the innermost one are indented.
    """
    address = UNKNOWN if answer.address is None else f"{answer.address:#x}"
    name = plain(_base_name(answer.object) or "")
    # What is no file, such as the vDSO, has brackets of its own.
    tail = "" if not name else f"  {name}" if name.startswith("[") else f"  [{name}]"
    if verbose and answer.reason:
        tail += f"  ({answer.reason})"
    if not answer.frames:
        yield f"{address}  {UNKNOWN} {UNKNOWN}:0{tail}"
        return
    last = len(answer.frames) - 1
    for index, frame in enumerate(answer.frames):
        function = frame.function if demangle else frame.linkage_name or frame.function
        text = plain(function or UNKNOWN)
        if index == last and function and answer.place is not None:
            text += f"{answer.place.offset:+#x}"
        place = _place(frame, base_names=False) if frame.line else f"{UNKNOWN}:0"
        text += f" at {plain(place)}"
        if index:
            yield f"{'':{len(address)}}    inlined by {text}"
        else:
            yield f"{address}  {text}{tail}"


def json_line(answer: Symbolized) -> str:
    """Write an answer as a JSON object on one line.

    Args:
        answer: The answer.
    """
    import json

    files = answer.files
    known = None if files is None else files.object or files.debug
    build_id = None if known is None else known.build_id
    innermost = answer.frames[0] if answer.frames else None
    place = answer.place
    facts = {
        "address": None if answer.address is None else f"{answer.address:#x}",
        "object": answer.object,
        "build_id": None if build_id is None else build_id.hex(),
        "function": None if place is None else place.function,
        "offset": place.offset if place is not None and place.function else None,
        "file": None if innermost is None else innermost.file,
        "line": None if innermost is None else innermost.line,
        "column": None if place is None else place.column,
        "frames": [frame._asdict() for frame in answer.frames],
        "source": None if files is None else files.source.value,
        "reason": answer.reason,
    }
    return json.dumps(facts)


def _base_name(path: str | None) -> str | None:
    return None if path is None else path.rpartition("/")[2] or path
