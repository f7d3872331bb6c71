"""JSON as client and daemon write and read it, without importing :mod:`json`.

That compiles regular expressions, of which nothing is needed but for Pythons without
``_json``, and takes as long as half a command. Both do the same.
"""

from __future__ import annotations

from .._typing import TYPE_CHECKING

try:
    from _json import encode_basestring_ascii, make_encoder, make_scanner
except ImportError:
    make_scanner = None  # type: ignore[assignment,misc]

if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["read_json", "write_json"]

_SPACE = " \t\n\r"


class _Ways:
    """How each kind of value is read; the names are those of :mod:`json`."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int = float, int
    # ``NaN`` and the like, which are no JSON, but programs have such values.
    parse_constant = float


def _refuse_object(value: object) -> NoReturn:
    raise TypeError(f"{type(value).__name__} has no JSON")


def read_json(raw: bytes) -> Any:
    """Return the value of a text.

    Args:
        raw: The text, in UTF-8.

    Raises:
        ValueError: It is no JSON.
        RecursionError: It is too deep.
    """
    text = raw.decode().strip(_SPACE)
    if make_scanner is None:
        from json import loads  # noqa: PLC0415 - see above

        return loads(text)
    try:
        value, end = make_scanner(_Ways)(text, 0)  # type: ignore[arg-type]
    except StopIteration as error:
        raise ValueError("expected JSON") from error
    if end != len(text):
        raise ValueError("expected one value")
    return value


def write_json(value: object) -> bytes:
    """Return the text of a value, without spaces and in ASCII.

    Args:
        value: What JSON can say.

    Raises:
        TypeError: It is something else.
    """
    if make_scanner is None:
        from json import dumps  # noqa: PLC0415 - see above

        return dumps(value, separators=(",", ":")).encode()
    quick = (None, _refuse_object, encode_basestring_ascii)
    encode = make_encoder(*quick, None, ":", ",", False, False, True)  # noqa: FBT003 - they have no names
    return "".join(encode(value, 0)).encode()
