"""``vestige lttng``: the verbs of LTTng for recording sessions."""

from __future__ import annotations

import argparse

from ..exit_statuses import ExitStatuses

__all__ = ["LttngCommand"]

STATUSES = ExitStatuses(
    {
        0: "success",
        1: "failure",
        2: "no such command, or no such option",
        3: "no such context",
        4: "some channels or contexts are as they were",
        "else": "the number of LTTng's error, such as 23: no such session",
    }
)


class LttngCommand:
    """Hands over to the session verbs, which read their words themselves."""

    name = "lttng"
    description = (
        "Control what running programs record: the commands of LTTng 2.13 for "
        "sessions, channels, recording event rules and contexts. 'vestige lttng help' "
        "lists them. 'vestige record -p PID' records a running program without any of "
        "them, and vestige.Session does in Python what they do."
    )
    examples = """\
examples:
  vestige lttng create my-session
  vestige lttng enable-event --userspace 'my_app:*'
  vestige lttng start
  vestige lttng stop
  vestige lttng view
"""
    exit_statuses = STATUSES

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Take all words as they are."""
        parser.add_argument(
            "words",
            metavar="COMMAND",
            nargs=argparse.REMAINDER,
            help="a command with its options; 'help COMMAND' describes it",
        )

    def run(self, options: argparse.Namespace) -> int:
        """Run the command."""
        from ..lttng.main import run

        return run(options.words)
