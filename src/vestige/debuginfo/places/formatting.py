"""The texts ``bin``, ``func`` and ``src`` of a place, as Babeltrace 2 writes them.

========  ========================================  =====================
field     form                                      example
========  ========================================  =====================
``bin``   ``NAME+OFFSET`` from the object's base    ``libapp.so+0x18d7c``
          ``NAME@ADDRESS`` without such a base      ``app@0x4b7fdd23``
``func``  ``FUNCTION+OFFSET`` from its entry        ``load_config+0x194``
          (negative in a part put before it)        ``load_config+-0x2e``
``src``   ``FILE:LINE``                             ``config.c:1025``
========  ========================================  =====================

A field that is not known is empty. All are empty when the object is not the one that
was traced: its name alone would suggest that the rest could be looked up.
"""

from __future__ import annotations

from ..._typing import NamedTuple
from ..unresolved import Unresolved
from .place import Binary, Place

__all__ = ["PlaceText", "encodable", "encodable_text", "format_place", "object_name"]


class PlaceText(NamedTuple):
    """The three members of a ``debug_info`` structure, in their order."""

    bin: str = ""
    """The object and the address in it."""

    func: str = ""
    """The function and the offset in it."""

    src: str = ""
    """The source file and the line."""


def format_place(place: Place | Unresolved, *, full_path: bool = False) -> PlaceText:
    """Write a place as text.

    Args:
        place: The place of an address, or why there is none.
        full_path: Whether to write whole paths instead of their last components.

    Returns:
        The three texts.
    """
    if isinstance(place, Unresolved) or not place.binary.is_identified:
        return PlaceText()
    return PlaceText(
        _binary(place.binary, full_path=full_path),
        _function(place),
        _source(place, full_path=full_path),
    )


def encodable(text: PlaceText) -> PlaceText:
    """Return texts that can be written as UTF-8: see :func:`encodable_text`."""
    return PlaceText(*map(encodable_text, text))


def encodable_text(text: str) -> str:
    """Return a text that can be written as UTF-8.

    A path may hold any bytes, and those that are no UTF-8 stand in Python's texts as
    surrogates, which nothing can write.

    Args:
        text: A text.

    Returns:
        The text with a replacement character for each such byte.
    """
    if text.isascii():
        return text
    return text.encode(errors="surrogateescape").decode(errors="replace")


def object_name(host_path: str, *, full_path: bool) -> str:
    """Return the name of an object as ``bin`` shows it.

    Args:
        host_path: The path where the object was looked for on this machine.
        full_path: Whether to write the whole path.

    Returns:
        The name.
    """
    return host_path if full_path else _last_component(host_path)


def _binary(binary: Binary, *, full_path: bool) -> str:
    name = object_name(binary.host_path, full_path=full_path)
    if binary.is_pic:
        return f"{name}+{_hexadecimal(binary.offset)}"
    return f"{name}@{_hexadecimal(binary.address)}"


def _function(place: Place) -> str:
    if place.function is None:
        return ""
    # A part that the compiler split off may lie before the entry: "main+-0x1a" keeps
    # the form that readers of the field split at the last "+".
    return f"{place.function}+{_hexadecimal(place.offset)}"


def _source(place: Place, *, full_path: bool) -> str:
    path = place.source_path
    if not path or not place.line:
        return ""
    return f"{path if full_path else _last_component(path)}:{place.line}"


def _last_component(path: str) -> str:
    return path.rpartition("/")[2] or path


def _hexadecimal(number: int) -> str:
    # Zero has no "0x" in front, as with C's "%#lx".
    return f"{number:#x}" if number else "0"
