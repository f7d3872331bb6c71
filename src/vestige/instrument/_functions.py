"""Which calls of functions are recorded."""

from __future__ import annotations

import os
import sys

from ._wanted import number_of, word_of

TYPE_CHECKING = False
if TYPE_CHECKING:  # To import it takes longer than all else.
    from typing import Any

__all__ = ["trace_functions"]

OWN_CODE = "own-code"


def trace_functions(native: Any, wanted: list[str]) -> None:
    """Record calls from now on.

    Args:
        native: The extension.
        wanted: What the recorder wrote for Python programs.
    """
    libraries = _libraries() if OWN_CODE in wanted else None
    native.choose_functions(word_of("include"), word_of("exclude"), libraries)
    native.trace_calls(
        "builtins" in wanted,
        number_of(wanted, "depth"),
        number_of(wanted, "least"),
        "arguments" in wanted,
    )


def _libraries() -> tuple[str, ...]:
    """Return where the standard library is; what is installed shows by its path."""
    name = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    roots = [
        os.path.dirname(os.__file__),  # noqa: PTH120 - pathlib takes longer to import
        getattr(sys, "_stdlib_dir", None),
    ]
    for prefix in (sys.base_prefix, sys.base_exec_prefix):
        for library in ("lib", getattr(sys, "platlibdir", "lib")):
            roots.append(f"{prefix}/{library}/{name}")  # noqa: PERF401 - two loops
        # Of an embedded Python; its files lie in one archive.
        roots.append(f"{prefix}/lib/{name.replace('.', '')}.zip")
    real = [os.path.realpath(root) for root in roots if root]
    return tuple({f"{root}/" for root in (*filter(None, roots), *real)})
