"""``vestige commands``: the names of LTTng's programs, for scripts that use them."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path

from ...errors import CommandError
from ..exit_statuses import PLAIN

__all__ = ["CommandsCommand"]

MARK = "# Written by 'vestige commands install': it may be written again."
PROGRAMS = {
    "lttng": "cli.lttng.start",
    "lttng-sessiond": "cli.sessiond",
    "lttng-crash": "cli.crash",
}
"""Each launcher, and the module of the package that it starts."""
DAEMONS = ("lttng-sessiond",)
"""Those that others look for by the name in ``argv[0]``."""


class CommandsCommand:
    """Writes small scripts, and nothing over what it did not write."""

    name = "commands"
    description = (
        "Write launchers with the names of LTTng's programs (lttng, lttng-sessiond, "
        "lttng-crash) into DIR, so that scripts made for LTTng use Vestige. What "
        "others have put there stays as it is."
    )
    examples = """\
examples:
  vestige commands install ~/.local/bin
"""
    exit_statuses = PLAIN

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments."""
        parser.add_argument(
            "action", metavar="install", choices=["install"], help="write the launchers"
        )
        parser.add_argument(
            "directory", metavar="DIR", help="where to; it is made if it is not there"
        )

    def run(self, options: argparse.Namespace) -> int:
        """Write them."""
        folder = Path(options.directory)
        foreign = [name for name in PROGRAMS if not _may_be_written(folder / name)]
        if foreign:
            names = ", ".join(str(folder / name) for name in foreign)
            raise CommandError(
                f"{names}: not written by Vestige: expected a directory without "
                "programs of these names"
            )
        folder.mkdir(parents=True, exist_ok=True)
        for name in PROGRAMS:
            _write(folder / name)
            print(folder / name)
        return 0


def _may_be_written(path: Path) -> bool:
    if path.is_symlink():
        return False
    if not path.exists():
        return True
    with path.open(errors="replace") as file:
        return MARK in file.read(4096)


def _write(path: Path) -> None:
    python = Path(sys.executable)
    # Without the modules of the site it starts in half the time, and finds us all the
    # same; Python looks for its own library by the directory in argv[0].
    folder = Path(__file__).resolve().parents[3]
    code = (
        # It is derived from argv[0], too.
        f"import sys; sys.executable = {str(python)!r}; "
        f"sys.path.insert(0, {str(folder)!r}); "
        f"from vestige.{PROGRAMS[path.name]} import entry_point; entry_point()"
    )
    shown = ["-a", str(python.with_name(path.name))] if path.name in DAEMONS else []
    words = ["exec", *shown, str(python), "-I", "-S", "-c", code]
    text = f'#!/bin/bash\n{MARK}\n{shlex.join(words)} "$@"\n'
    new = path.with_name(f".{path.name}.{os.getpid()}")
    new.write_text(text)
    new.chmod(0o755)
    new.replace(path)
