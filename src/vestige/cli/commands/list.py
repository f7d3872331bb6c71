"""``vestige list``: what can be recorded of a program."""

from __future__ import annotations

import argparse
import sys

from ...errors import CommandError, RecordError
from ...plain_text import plain
from ..exit_statuses import READ, UNREADABLE, WRONG_USAGE, ExitStatuses

__all__ = ["ListCommand"]


LISTING = ExitStatuses(
    {
        READ: "success, also when nothing is found",
        WRONG_USAGE: "wrong usage",
        UNREADABLE: "there is no such program or process, or it cannot be read",
    }
)


class ListCommand:
    """Looks into a program's files; runs nothing of them."""

    name = "list"
    description = (
        "List the tracepoints of PROGRAM and of the libraries it needs, or of the "
        "objects that the process PID has loaded, with their log levels. Say how many "
        "of their functions are instrumented. The program is not run."
    )
    examples = """\
examples:
  vestige list ./app
  vestige list --fields ./app ...           with the fields of each tracepoint
  vestige list $(pidof app)                 with the plugins that it has loaded
  vestige list --json ./app | jq -r '.objects[].tracepoints[] | .provider + ":" + .name'
"""
    exit_statuses = LISTING

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument(
            "program",
            metavar="PROGRAM|PID",
            help="a program (a path, or a name in $PATH), a library, or a process ID; "
            "write ./NUMBER for a file whose name is a number",
        )
        parser.add_argument(
            "-f",
            "--fields",
            action="store_true",
            help="list the fields of tracepoints as well",
        )
        parser.add_argument("--json", action="store_true", help="print JSON")

    def run(self, options: argparse.Namespace) -> int:
        """Print what was found."""
        from ...inspect import list_process, list_program
        from ..render.listing import listing_json, listing_lines

        name: str = options.program
        try:
            if name.isascii() and name.isdigit():
                listing = list_process(int(name))
            else:
                listing = list_program(name)
        except RecordError as error:
            raise CommandError(str(error)) from error
        if options.json:
            print(listing_json(listing))
            return 0
        for note in listing.notes:
            print(f"vestige: {plain(note)}", file=sys.stderr)
        for line in listing_lines(listing, with_fields=options.fields):
            print(plain(line))
        return 0
