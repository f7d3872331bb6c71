"""``vestige commands``: the names of others' programs, and units for systemd."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path

from ...errors import CommandError
from ..exit_statuses import PLAIN
from ..systemd_unit import DAEMON, MARK, UNIT_FOLDERS, UNIT_NAME, unit_text

__all__ = ["CommandsCommand"]

PROGRAMS = {
    "lttng": "cli.lttng.start",
    "lttng-sessiond": "cli.sessiond",
    "lttng-relayd": "cli.relayd",
    "lttng-crash": "cli.crash",
    "babeltrace2": "cli.babeltrace.start",
}
"""Each launcher, and the module of the package that it starts."""
DAEMONS = ("lttng-sessiond", "lttng-relayd")
"""Those that others look for by the name in ``argv[0]``, and that may go by it."""


class CommandsCommand:
    """Writes small scripts, and nothing over what it did not write."""

    name = "commands"
    description = (
        "Write launchers with the names of LTTng's programs and Babeltrace's (lttng, "
        "lttng-sessiond, lttng-relayd, lttng-crash, babeltrace2) into DIR, so that "
        "scripts made for them use Vestige. With "
        "--systemd, write a unit file for the session daemon instead. What others have "
        "put there stays as it is."
    )
    examples = """\
examples:
  vestige commands install ~/.local/bin
  vestige commands install --systemd=system   as root: root's daemon
  vestige commands install --systemd=user     a daemon of this user
"""
    exit_statuses = PLAIN

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the arguments."""
        parser.add_argument(
            "action", metavar="install", choices=["install"], help="write the launchers"
        )
        parser.add_argument(
            "--systemd",
            choices=[*UNIT_FOLDERS],
            help="write vestige-sessiond.service for the system, or for a user; "
            "without DIR, to where systemd looks for units of an administrator, or of "
            "this user",
        )
        parser.add_argument(
            "directory",
            metavar="DIR",
            nargs="?",
            help="where to; it is made if it is not there",
        )

    def run(self, options: argparse.Namespace) -> int:
        """Write them."""
        if options.systemd is not None:
            return _install_unit(options.systemd, options.directory)
        if options.directory is None:
            raise CommandError("expected DIR, where the launchers are written to")
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


def _install_unit(kind: str, directory: str | None) -> int:
    """Write a unit file for systemd."""
    path = Path(directory or os.path.expandvars(UNIT_FOLDERS[kind])) / UNIT_NAME
    if not _may_be_written(path):
        raise CommandError(f"{path}: not written by Vestige, so it stays as it is")
    path.parent.mkdir(parents=True, exist_ok=True)
    _replace(path, unit_text(kind, _daemon_path()), 0o644)
    print(path)
    return 0


def _daemon_path() -> str:
    """Return where the program of the session daemon is installed."""
    for one in (sys.argv[0], sys.executable):
        found = Path(one).absolute().with_name(DAEMON)
        if os.access(found, os.X_OK):
            return str(found)
    raise CommandError(f"no {DAEMON} next to {sys.argv[0]}: expected an installation")


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
        # It is derived from argv[0], too, of which scripts see nothing with -c.
        f"import sys; sys.executable = {str(python)!r}; sys.argv[0] = {path.name!r}; "
        f"sys.path.insert(0, {str(folder)!r}); "
        f"from vestige.{PROGRAMS[path.name]} import entry_point; entry_point()"
    )
    shell, shown = "sh", []
    if path.name in DAEMONS:
        # Only this one can, and it takes longer to start.
        shell, shown = "bash", ["-a", str(python.with_name(path.name))]
    words = ["exec", *shown, str(python), "-I", "-S", "-c", code]
    _replace(path, f'#!/bin/{shell}\n{MARK}\n{shlex.join(words)} "$@"\n', 0o755)


def _replace(path: Path, text: str, mode: int) -> None:
    new = path.with_name(f".{path.name}.{os.getpid()}")
    new.write_text(text)
    new.chmod(mode)
    new.replace(path)
