"""Running a script with one module in place of another."""

from __future__ import annotations

import os
import runpy
import sys
from importlib import import_module

__all__ = ["run_script"]

_USAGE = 2


def run_script(name: str, module: str) -> int:
    """Run the script that the command line names, with its arguments.

    Args:
        name: The name by which the script imports the module.
        module: The module that it gets.

    Returns:
        The exit status.
    """
    if len(sys.argv) < 2 or sys.argv[1] in {"-h", "--help"}:  # noqa: PLR2004 - a script
        print(f"usage: python -m {module} SCRIPT [ARGUMENT ...]", file=sys.stderr)  # noqa: T201 - a command
        return 0 if sys.argv[1:] else _USAGE
    if not os.path.exists(sys.argv[1]):  # noqa: PTH110 - the path is text
        print(f"{module}: {sys.argv[1]}: no such file", file=sys.stderr)  # noqa: T201 - as above
        return _USAGE
    found = import_module(module)
    sys.modules[name] = found
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))  # noqa: PTH100, PTH120 - as the interpreter does
    runpy.run_path(sys.argv[0], run_name="__main__")
    return 0
