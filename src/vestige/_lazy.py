"""Public names that are imported when they are first used (PEP 562).

A program needs few of them, and importing all takes longer than small tasks do.
"""

from __future__ import annotations

import sys

from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import Any

__all__ = ["lazy_names"]


def lazy_names(
    package: str,
    homes: Mapping[str, str],
    modules: Collection[str] = (),
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make ``__getattr__`` and ``__dir__`` of a package.

    Args:
        package: Its ``__name__``.
        homes: For each name the module that has it, below the package or relative to
            it, such as ``..model``.
        modules: The modules of the package that are names of it, too.

    Returns:
        Both functions. ``__dir__`` lists what ``__all__`` of the package has, and the
        modules; not what the package happens to import.
    """

    def get(name: str) -> Any:
        # Whoever uses no such name does not wait for it.
        from importlib import import_module  # noqa: PLC0415 - see above

        if name in homes:
            home = homes[name]
            path = home if home.startswith(".") else f".{home}"
            value = getattr(import_module(path, package), name)
        elif name in modules:
            # The import makes it a name of the package.
            return import_module(f".{name}", package)
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        namespace = vars(sys.modules[package])
        own = {name for name in namespace if name.startswith("__")}
        return sorted({*own, *namespace["__all__"], *modules})

    return get, names
