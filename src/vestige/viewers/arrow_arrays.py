"""Arrays of Arrow, made of Python's values without what pyarrow would import for that.

``pyarrow.array`` asks pandas whether it knows the values, if pandas is installed: to
import it takes 50 MB and half a second.
"""

from __future__ import annotations

from array import array
from itertools import accumulate

from .._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType
    from typing import Any

__all__ = ["numbers", "texts"]


def numbers(arrow: ModuleType, values: Sequence[int | None]) -> Any:
    """Return an array of numbers of 32 bits.

    Args:
        arrow: The module ``pyarrow``.
        values: The numbers; ``None`` for none.
    """
    data = array("i", [value or 0 for value in values])
    valid = None
    if None in values:
        bits = bytearray((len(values) + 7) // 8)
        for index, value in enumerate(values):
            bits[index // 8] |= (value is not None) << index % 8
        valid = arrow.py_buffer(bytes(bits))
    buffers = [valid, arrow.py_buffer(data)]
    return arrow.Array.from_buffers(arrow.int32(), len(values), buffers)


def texts(arrow: ModuleType, values: Sequence[str]) -> Any:
    """Return an array of texts.

    Args:
        arrow: The module ``pyarrow``.
        values: The texts.
    """
    encoded = [value.encode("utf-8", "replace") for value in values]
    ends = array("i", accumulate(map(len, encoded), initial=0))
    buffers = [None, arrow.py_buffer(ends), arrow.py_buffer(b"".join(encoded))]
    return arrow.Array.from_buffers(arrow.string(), len(values), buffers)
