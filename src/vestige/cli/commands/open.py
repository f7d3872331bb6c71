"""``vestige open``: look at a trace in a browser."""

from __future__ import annotations

import argparse
import os
import sys

from ..._typing import TYPE_CHECKING
from ...errors import CommandError
from ..damage_output import print_damage
from ..debug_info_arguments import add_debug_file_arguments, debug_file_options
from ..exit_statuses import UNREADABLE, WRONG_USAGE, ExitStatuses
from ..newest_recording import take_newest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...components.filters.debug_info import DebugInfoFilter
    from ...components.sources.ctf_fs import CtfFsSource
    from ...components.sources.recording import RecordingSource
    from ...page.served_trace import Opener
    from ...page.server import PageServer

__all__ = ["OpenCommand"]

LAST_PORT = 65535
REGISTER = ".arena"
"""A recording that goes on has this file."""

OPENING = ExitStatuses(
    {
        0: "Ctrl-C ended it",
        WRONG_USAGE: "the command line is wrong",
        UNREADABLE: "the trace cannot be read, or the port cannot be had",
    }
)


class OpenCommand:
    """Serves the page of a trace to this machine's browser."""

    name = "open"
    description = (
        "Show the CTF traces in or below each PATH in a browser: a timeline of calls "
        "by process and thread, a flame graph, how long calls took, and the events. "
        "The page is served to this machine alone, at an address that nobody can "
        "guess, until Ctrl-C; what is shown is read when it is asked for. A recording "
        "that goes on is followed as it grows."
    )
    examples = """\
examples:
  vestige open                    the newest recording
  vestige open TRACE
  vestige open --follow           its last seconds, while it goes on
  vestige open --no-browser TRACE only print the address
  vestige open --port=8123 TRACE  over SSH, with a port that is forwarded already
"""
    exit_statuses = OPENING

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument(
            "paths",
            metavar="PATH",
            nargs="*",
            help="a trace directory (default: the newest recording)",
        )
        parser.add_argument(
            "--port",
            metavar="N",
            type=_port,
            default=0,
            help="listen on this port (default: one that is free)",
        )
        parser.add_argument(
            "--no-browser", action="store_true", help="start no browser"
        )
        parser.add_argument(
            "--follow",
            action="store_true",
            help="begin with the last seconds of a recording that goes on, and move on "
            "with it; --live of 'vestige record' lets it move at once",
        )
        add_debug_file_arguments(parser.add_argument_group("debug information"))

    def run(self, options: argparse.Namespace) -> int:
        """Serve the page until Ctrl-C."""
        from ...page.served_trace import ServedTrace
        from ...page.server import PageServer

        take_newest(options)
        data = ServedTrace(_opener(options))
        print_damage(data.damage)
        try:
            server = PageServer(data, options.port)
        except OSError as error:
            raise CommandError(f"--port={options.port}: {error.strerror}") from None
        with server:
            try:
                _tell(server, browser=not options.no_browser)
                data.complete_later()
                server.serve_forever()
            except KeyboardInterrupt:
                return 0
        return 0


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < int(text) <= LAST_PORT):
        raise argparse.ArgumentTypeError(f"'{text}' is not the number of a port")
    return int(text)


def _opener(options: argparse.Namespace) -> Opener:
    from ...analysis.intervals import IndexFile, index_key
    from ...components.filters.debug_info import DebugInfoFilter, finder_for
    from ...components.sources.ctf_fs import CtfFsSource
    from ...debuginfo import Resolver
    from ...page.served_trace import Opener
    from ..begun_recording import is_recorded

    wanted = debug_file_options(options)

    def resolver(source: CtfFsSource) -> Resolver:
        return Resolver(finder_for([source], wanted), demangle=wanted.demangle)

    def place(source: CtfFsSource) -> IndexFile | None:
        return IndexFile.in_cache(index_key(source, wanted, {}))

    def places(source: CtfFsSource) -> DebugInfoFilter:
        return DebugInfoFilter(wanted, [source])

    return Opener(
        ", ".join(os.path.basename(os.path.abspath(path)) for path in options.paths),  # noqa: PTH100, PTH119 - the paths are text
        lambda: CtfFsSource(options.paths),
        resolver,
        place,
        lambda: any(map(is_recorded, options.paths)),
        _feeds,
        places,
        options.follow,
    )


def _feeds(source: CtfFsSource) -> list[RecordingSource] | None:
    """Return what reads recordings that go on; ``None`` if one cannot be read so."""
    from ...components.sources.recording import RecordingSource
    from ...components.sources.recording_parts import others_of
    from ...record.backends.in_process.recovery import is_left

    directories = source.directories
    if len(directories) != source.trace_count:
        return None  # some are parts of one trace
    return [
        RecordingSource(
            str(directory), index, is_left, others=others_of(directory, directories)
        )
        for index, directory in enumerate(directories)
    ]


def _tell(server: PageServer, *, browser: bool) -> None:
    """Print where the page is, and start a browser where there is one."""
    print(server.url, flush=True)
    tunnel = tunnel_command(os.environ, server.port)
    if tunnel is not None:
        print(
            f"vestige: on your own machine, run '{tunnel}' and open this address there",
            file=sys.stderr,
        )
    elif browser and has_display(os.environ):
        import webbrowser

        webbrowser.open(server.url)
    print("vestige: Ctrl-C ends it", file=sys.stderr)


def tunnel_command(environment: Mapping[str, str], port: int) -> str | None:
    """Return what forwards a port to the machine of a person; ``None`` without SSH.

    Args:
        environment: The environment variables.
        port: The port.
    """
    connection = environment.get("SSH_CONNECTION", "").split()
    if not connection:
        return None
    host = connection[2] if len(connection) > 2 else "HOST"  # noqa: PLR2004 - the third is this machine
    user = environment.get("USER") or environment.get("LOGNAME")
    target = f"{user}@{host}" if user else host
    return f"ssh -N -L {port}:127.0.0.1:{port} {target}"


def has_display(environment: Mapping[str, str]) -> bool:
    """Tell whether a browser can show something: one in the terminal is no help.

    Args:
        environment: The environment variables.
    """
    shown = environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY")
    return bool(shown) or sys.platform == "darwin"
