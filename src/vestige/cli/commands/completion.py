"""``vestige completion``: what makes a shell complete command lines."""

from __future__ import annotations

import argparse
import os

from ..exit_statuses import PLAIN, READ

__all__ = ["CompletionCommand"]

SCRIPTS = {"bash": "vestige.bash", "zsh": "_vestige", "fish": "vestige.fish"}


class CompletionCommand:
    """Prints the script of a shell, which ``tools/make_manual.py`` made."""

    name = "completion"
    description = (
        "Print a script that makes a shell complete the commands, options and files of "
        "vestige."
    )
    examples = """\
examples:
  eval "$(vestige completion bash)"         for this shell, or in ~/.bashrc
  vestige completion zsh >~/.zfunc/_vestige      with fpath+=~/.zfunc before compinit
  vestige completion fish >~/.config/fish/completions/vestige.fish
"""
    exit_statuses = PLAIN

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument(
            "shell", metavar="SHELL", choices=[*SCRIPTS], help="bash, zsh or fish"
        )

    def run(self, options: argparse.Namespace) -> int:
        """Print the script."""
        here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - pathlib takes long to import
        path = os.path.join(here, "completions", SCRIPTS[options.shell])  # noqa: PTH118 - as above
        with open(path, encoding="utf-8") as file:  # noqa: PTH123 - as above
            print(file.read(), end="")
        return READ
