"""``vestige top``: what sessions, recordings and programs record at this moment."""

from __future__ import annotations

import argparse
import sys
import time
from itertools import count

from ..._typing import TYPE_CHECKING
from ...errors import CommandError, SessionError
from ..durations import seconds
from ..exit_statuses import DAMAGED, INTERRUPTED, INTERRUPTED_LINE, READ, ExitStatuses

if TYPE_CHECKING:
    from ...control.watching import Watch
    from ...daemon.client import Client

__all__ = ["TopCommand"]

SORTS = ("name", "events", "size", "lost", "buffers")
SHORTEST_DELAY = 0.05
STATUSES = ExitStatuses(
    {
        READ: "success; also Ctrl-C where a terminal is refreshed",
        DAMAGED: "nothing is recorded, or the session daemon has ended",
        2: "wrong usage",
        **INTERRUPTED_LINE,
    },
    failed=DAMAGED,
)
NO_DAEMON = (
    "no session daemon runs: 'vestige-sessiond --daemonize' starts one, and so does "
    "'vestige lttng create'"
)
NOT_YOURS = (
    "no session daemon of yours runs, and that of root is for members of the group "
    "'{group}'"
)
NOTHING = "no 'vestige record' runs, and "


class TopCommand:
    """Asks the daemon once in a while; it asks nothing of programs."""

    name = "top"
    description = (
        "Show what recording sessions, the programs of the session daemon, and "
        "recordings of 'vestige record' record at this moment: events, bytes, losses "
        "and how full buffers are. On a terminal, the table is refreshed: q ends it, s "
        "takes the next order, Tab the next session, a all of them, and the space bar "
        "looks at once. Elsewhere, it is written once. '~' is before a number of "
        "events that is estimated in part, from the bytes in buffers; '?' stands where "
        "nobody can tell."
    )
    examples = """\
examples:
  vestige top
  vestige top --session my-session --sort lost
  vestige top --once
  vestige top --batch -n 60 -d 1m > hour.txt
  vestige top --json | jq -r '.sessions[] | [.name, .events_per_second] | @tsv'
"""
    exit_statuses = STATUSES

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        form = parser.add_mutually_exclusive_group()
        form.add_argument(
            "--once", action="store_true", help="write one table, with rates, and end"
        )
        form.add_argument(
            "--batch", action="store_true", help="write one table after the other"
        )
        parser.add_argument(
            "--json",
            action="store_true",
            help="write lines, each with an object of JSON; with --once, one line",
        )
        parser.add_argument(
            "-n",
            "--count",
            metavar="N",
            type=_positive,
            help="end after N tables or lines",
        )
        parser.add_argument(
            "-d",
            "--delay",
            metavar="TIME",
            type=_delay,
            default=1.0,
            help="look so often, such as 500ms, 10s or 1m (default: 1s)",
        )
        parser.add_argument(
            "-s",
            "--session",
            metavar="NAME",
            help="only this session or recording, and its programs",
        )
        parser.add_argument(
            "--no-recordings",
            action="store_false",
            dest="recordings",
            help="leave out recordings of 'vestige record'",
        )
        parser.add_argument(
            "--sort",
            metavar="ORDER",
            choices=SORTS,
            default=SORTS[0],
            help="the order of sessions: by name, events per second, size per second, "
            "lost events or fill of buffers (name, events, size, lost, buffers; "
            "default: name)",
        )
        parser.add_argument(
            "-g",
            "--group",
            metavar="GROUP",
            default="tracing",
            help="whose members may use root's daemon (default: tracing)",
        )

    def run(self, options: argparse.Namespace) -> int:
        """Run the command."""
        from ..top_screen import can_have_screen

        client = _client(options)
        try:
            watch = _watch(client, options)
            is_plain = options.once or options.batch or options.json or options.count
            if not is_plain and can_have_screen():
                from ..top_table import show

                return show(watch, options)
            _write_tables(watch, options)
        except KeyboardInterrupt:
            return INTERRUPTED
        finally:
            if client is not None:
                client.close()
        return READ


def _client(options: argparse.Namespace) -> Client | None:
    from ...daemon.client import Client

    try:
        return Client.connect(options.group)
    except SessionError:
        return None


def _watch(client: Client | None, options: argparse.Namespace) -> Watch:
    """Begin to watch; an error where there is nothing to be watched."""
    from ...control.recordings import Recordings
    from ...control.watching import Watch

    recordings = Recordings() if options.recordings else None
    if client is None and (recordings is None or not recordings.look()):
        why = "" if recordings is None else NOTHING
        raise CommandError(f"{why}{_no_daemon(options.group)}")
    return Watch(client, recordings)


def _no_daemon(group: str) -> str:
    from ...daemon.run_paths import is_kept_from_root

    return NOT_YOURS.format(group=group) if is_kept_from_root() else NO_DAEMON


def _write_tables(watch: Watch, options: argparse.Namespace) -> None:
    """Write tables or lines, after the first look, which has no rates."""
    from ..render.watched import json_line
    from ..terminal import line_width
    from ..top_table import chosen, table_lines

    is_endless = options.batch or options.json
    many = 1 if options.once or not is_endless else None
    many = options.count or many
    chosen(watch.look(), options.session)
    for number in count(1):
        time.sleep(options.delay)
        look = chosen(watch.look(), options.session)
        if options.json:
            print(json_line(look), flush=True)
        else:
            width = line_width()
            for line, _ in table_lines(look, options.sort):
                print(line if width is None else line[:width])
            if number != many:
                print()
            sys.stdout.flush()
        if number == many:
            return


def _positive(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if number <= 0:
        raise argparse.ArgumentTypeError(f"{text}: expected a number from 1 on")
    return number


def _delay(text: str) -> float:
    found = seconds(text)
    if found < SHORTEST_DELAY:
        raise argparse.ArgumentTypeError(f"{text}: expected 50ms or more")
    return found
