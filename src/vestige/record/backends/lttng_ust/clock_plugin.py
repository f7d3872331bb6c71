"""Loads a clock plugin of LTTng-UST, says what it is, and reads it when it is asked.

This is run, not imported: ``python clock_plugin.py PLUGIN``. A line of JSON describes
the clock; then each line of standard input is answered with its ticks.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ctypes
    from collections.abc import Callable
    from typing import Any

__all__: list[str] = []

LIBRARY = "liblttng-ust-common.so.1"
"""Has what plugins call; they need not be linked with it."""
CHOSEN = "lttng_ust_trace_clock"
"""Its pointer to the clock that programs read, if that is not the system's."""
UUID_SIZE = 37
"""Bytes of the text of a UUID, with its zero."""


def main(path: str) -> None:
    """Serve a plugin until standard input ends.

    Args:
        path: The plugin.
    """
    # Whoever imports this for its path needs it not.
    import ctypes  # noqa: PLC0415 - see above

    try:
        library = ctypes.CDLL(LIBRARY, ctypes.RTLD_GLOBAL)
        plugin = ctypes.CDLL(path)
        plugin.lttng_ust_clock_plugin_init()
        is_chosen = ctypes.c_void_p.in_dll(library, CHOSEN).value is not None
        clock = _callback(library, "read64", ctypes.CFUNCTYPE(ctypes.c_uint64))
        facts = _facts(library)
    except (OSError, AttributeError, ValueError) as error:
        _say(json.dumps({"error": f"expected a clock plugin: {error}"}))
        return
    if clock is None or not is_chosen:
        _say(json.dumps({"error": "the plugin has set no clock"}))
        return
    _say(json.dumps(facts))
    for _ in sys.stdin:
        _say(str(clock()))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _callback(library: ctypes.CDLL, what: str, kind: type) -> Callable[..., Any] | None:
    """Return a function that the plugin has set; ``None`` if it has set none."""
    import ctypes  # noqa: PLC0415 - as above

    get = getattr(library, f"lttng_ust_trace_clock_get_{what}_cb")
    place = ctypes.c_void_p()
    if get(ctypes.byref(place)) != 0 or place.value is None:
        return None
    function: Callable[..., Any] = kind(place.value)
    return function


def _facts(library: ctypes.CDLL) -> dict[str, str | int | None]:
    import ctypes  # noqa: PLC0415 - as above

    facts: dict[str, str | int | None] = {}
    for what in ("name", "description"):
        get = _callback(library, what, ctypes.CFUNCTYPE(ctypes.c_char_p))
        text = None if get is None else get()
        facts[what] = None if text is None else text.decode(errors="replace")
    frequency = _callback(library, "freq", ctypes.CFUNCTYPE(ctypes.c_uint64))
    facts["frequency"] = None if frequency is None else frequency()
    fill = _callback(library, "uuid", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p))
    facts["uuid"] = None
    if fill is not None:
        text = ctypes.create_string_buffer(UUID_SIZE)
        if fill(text) == 0:
            facts["uuid"] = text.value.decode(errors="replace")
    return facts


if __name__ == "__main__":
    main(sys.argv[1])
