"""Text for people, without what could steer their terminal.

Names of events, hosts and files come from others. The core has the same rule
(``crates/vestige-escapes``); a test compares them.
"""

from __future__ import annotations

__all__ = ["plain"]

_ESCAPE = "\\"
_SPACE, _DELETE = 0x20, 0x7F
_FIRST_BYTE = 0xDC00
_LETTERS = {0: "0", 7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 27: "e"}
_DIRECTIONS_AND_LINES = (
    *(0x61C, 0x200E, 0x200F),
    *range(0x2028, 0x202F),
    *range(0x2066, 0x206A),
)
"""What changes the direction of text (:pep:`672`), and separators of lines."""
_BYTES = range(0xDC80, 0xDD00)
"""What stands for a byte that is no UTF-8; see :pep:`383`."""
_UNICODE = (range(0x80, 0xA0), _DIRECTIONS_AND_LINES, range(0xD800, 0xE000))


class _Escapes(dict[int, str]):
    # Made as they are needed: most commands need none.

    def __missing__(self, code: int) -> str:
        if code in _LETTERS:
            text = _ESCAPE + _LETTERS[code]
        elif code in _BYTES:
            text = f"{_ESCAPE}x{code - _FIRST_BYTE:02x}"
        elif any(code in codes for codes in _UNICODE):
            text = f"{_ESCAPE}u{code:04x}"
        elif code < _SPACE or code == _DELETE:
            text = f"{_ESCAPE}x{code:02x}"
        else:
            raise KeyError(code)  # for str.translate: it stays as it is
        self[code] = text
        return text


_TABLE = _Escapes()


def plain(text: str) -> str:
    """Write what could steer a terminal as escapes.

    These are control characters (C0, DEL, C1), those that change the direction of text,
    the separators of lines and paragraphs, and bytes that are no UTF-8.

    Args:
        text: Any text, with such bytes as Python keeps them.

    Returns:
        The same text where it has none of them; it can always be encoded.
    """
    return text if text.isprintable() else text.translate(_TABLE)
