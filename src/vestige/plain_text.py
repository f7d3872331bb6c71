"""Text for people, without what could steer their terminal.

Names of events, hosts and files come from others. The core has the same rule
(``crates/vestige-ctf/src/text/escape.rs``); a test compares them.
"""

from __future__ import annotations

__all__ = ["plain"]

_ESCAPE = "\\"
_LETTERS = {0: "0", 7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 27: "e"}
_BYTES = range(0xDC80, 0xDD00)
"""What stands for a byte that is no UTF-8; see :pep:`383`."""
_TABLE: dict[int, str] = {
    **{code: f"{_ESCAPE}x{code:02x}" for code in (*range(0x20), 0x7F)},
    **{code: _ESCAPE + letter for code, letter in _LETTERS.items()},
    **{
        code: f"{_ESCAPE}u{code:04x}"
        for code in (*range(0x80, 0xA0), *range(0xD800, 0xE000))
    },
    **{code: f"{_ESCAPE}x{code - 0xDC00:02x}" for code in _BYTES},
}


def plain(text: str) -> str:
    """Write control characters (C0, DEL, C1) and bytes that are no UTF-8 as escapes.

    Args:
        text: Any text, with such bytes as Python keeps them.

    Returns:
        The same text where it has none of them; it can always be encoded.
    """
    return text if text.isprintable() else text.translate(_TABLE)
