"""``vestige list``: what can be recorded of a program."""

from __future__ import annotations

import argparse
import sys

from ...errors import CommandError, RecordError, SessionError
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


def _joining(pid: int) -> str:
    """Say whether a process can be joined, as far as a session daemon knows."""
    from ...control.processes import has_lttng_ust
    from ...daemon.client import Client

    try:
        client = Client.connect()
    except SessionError:
        registered = None
    else:
        registered = {one["pid"] for one in client.programs()}
        client.close()
    if registered is not None and pid in registered:
        return f"{pid} is registered: 'vestige record -p {pid}' joins it"
    if registered is None and has_lttng_ust(pid):
        return (
            f"no session daemon runs; {pid} has LTTng-UST: 'vestige record -p {pid}' "
            "starts one and joins it"
        )
    return f"{pid} is not registered with a session daemon: it cannot be joined"


def _list_functions(name: str, *, is_json: bool) -> None:
    """Print what becomes of the functions of a program and its libraries."""
    import json
    import os

    from ...inspect.programs import find_program
    from ...record.backends.in_process.plans import planned_objects
    from ..render.planned_functions import plan_of, planned_facts, planned_lines

    path = find_program(name, os.environ.get("PATH"))
    if path is None:
        raise CommandError(f"{name}: no such program in PATH")
    try:
        objects = [plan_of(one) for one in planned_objects(path)]
    except OSError as error:
        raise CommandError(f"{path}: cannot be read: {error.strerror}") from error
    if is_json:
        facts = [planned_facts(one) for one in objects]
        print(json.dumps({"objects": facts}, indent=2))
        return
    for one in objects:
        for line in planned_lines(one):
            print(plain(line))


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
  vestige list --functions ./app            what 'vestige record --patch' can record
  vestige list $(pidof app)                 with the plugins that it has loaded
  vestige list -p $(pidof app)              and whether it can be joined
  vestige list --json ./app | jq -r '.objects[].tracepoints[] | .provider + ":" + .name'
"""
    exit_statuses = LISTING

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument(
            "program",
            nargs="?",
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
        parser.add_argument(
            "--functions",
            action="store_true",
            help="instead, list how each function of PROGRAM and of its libraries "
            "outside of the system's directories can be recorded with 'vestige record "
            "--patch', or why it cannot",
        )
        parser.add_argument("--json", action="store_true", help="print JSON")
        parser.add_argument(
            "-p",
            "--pid",
            metavar="PID",
            help="the same as PID, and say whether 'vestige record -p PID' can join it",
        )
        parser.set_defaults(refuse=parser.error)

    def run(self, options: argparse.Namespace) -> int:
        """Print what was found."""
        from ...inspect import list_process, list_program
        from ..render.listing import listing_json, listing_lines

        if (options.program is None) == (options.pid is None):
            options.refuse("expected PROGRAM, or --pid=PID")
        name: str = options.pid or options.program
        is_process = name.isascii() and name.isdigit()
        if options.pid is not None and not is_process:
            options.refuse(f"--pid={name}: expected a process ID")
        if options.functions:
            if is_process:
                options.refuse("--functions: expected PROGRAM")
            _list_functions(name, is_json=options.json)
            return 0
        try:
            listing = list_process(int(name)) if is_process else list_program(name)
        except RecordError as error:
            raise CommandError(str(error)) from error
        if options.pid is not None:
            print(f"vestige: {plain(_joining(int(name)))}", file=sys.stderr)
        if options.json:
            print(listing_json(listing))
            return 0
        for note in listing.notes:
            print(f"vestige: {plain(note)}", file=sys.stderr)
        for line in listing_lines(listing, with_fields=options.fields):
            print(plain(line))
        return 0
