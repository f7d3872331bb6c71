"""``vestige debuginfo``: where the addresses of traces lie, and who names them."""

from __future__ import annotations

import argparse
import sys

from ..._typing import TYPE_CHECKING
from ...plain_text import plain
from ..damage_output import print_damage
from ..debug_info_arguments import add_debug_file_arguments, debug_file_options
from ..exit_statuses import READING
from ..newest_recording import take_newest
from ..selection_arguments import (
    TIME_FORMATS,
    add_selection_arguments,
    select,
    time_bounds,
)
from ..terminal import add_wide_argument, line_width

if TYPE_CHECKING:
    from ...analysis.debug_info import DebugInfoReport
    from ...components.sources.ctf_fs import CtfFsSource
    from ...debuginfo import Resolver
    from ...graph import Selection

__all__ = ["DebuginfoCommand"]

UNLIMITED = 1 << 30
"""Columns, where nothing is cut."""


class DebuginfoCommand:
    """Says which objects the addresses of traces lie in, and what is missing."""

    name = "debuginfo"
    description = (
        "Read the CTF traces in or below each PATH. For each process and each object "
        "it had loaded, print how many events come from it, and which file has the "
        "names of its functions and lines. If none has, list the places searched, why "
        "each was not used, and the command that installs the debug file, if this "
        "machine knows one."
    )
    examples = (
        """\
examples:
  vestige debuginfo TRACE
  vestige debuginfo --debug-info-dir=/srv/debug:/usr/lib/debug TRACE
  vestige debuginfo TRACE --pack            store the names with the trace
  vestige debuginfo --json TRACE | jq '.processes[].objects[] | {path, source}'

"""
        + TIME_FORMATS
    )
    exit_statuses = READING

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument(
            "paths",
            metavar="PATH",
            nargs="*",
            help="a trace directory (default: the newest recording)",
        )
        parser.add_argument(
            "--json", action="store_true", help="print the result as JSON"
        )
        parser.add_argument(
            "-a",
            "--all",
            action="store_true",
            help="list objects without events as well",
        )
        parser.add_argument(
            "-v",
            "--verbose",
            action="store_true",
            help="list the places searched for every object",
        )
        packing = parser.add_argument_group("packing")
        packing.add_argument(
            "--pack",
            metavar="OUT",
            nargs="?",
            const="",
            help="write the functions and lines of all addresses to a directory, so "
            "that the trace can be read without the binaries",
        )
        packing.add_argument(
            "-o",
            "--output",
            metavar="OUT",
            help="the directory for --pack (default: PATH/debug-info.vestige)",
        )
        packing.add_argument(
            "--full",
            action="store_true",
            help="copy whole debug files as well, to OUT/.build-id/NN/REST.debug",
        )
        add_selection_arguments(parser)
        add_wide_argument(parser)
        add_debug_file_arguments(parser.add_argument_group("debug information"))
        parser.set_defaults(usage_error=parser.error)

    def run(self, options: argparse.Namespace) -> int:
        """Print the report; return 1 when a trace is damaged."""
        from ...components.filters.debug_info import finder_for
        from ...components.sources.ctf_fs import CtfFsSource
        from ...debuginfo import Resolver
        from ..render.debuginfo import ReportStyle, json_text, report_lines

        _check_usage(options)
        bounds = time_bounds(options)
        take_newest(options)
        source = CtfFsSource(options.paths)
        wanted = debug_file_options(options)
        # To pack is to start from the files that are here.
        packing = options.pack is not None
        finder = finder_for([] if packing else [source], wanted)
        resolver = Resolver(finder)
        report = _examined(source, resolver, select(options, [source], bounds))
        status = READING.of_reading(report.damage, is_readable=bool(source.streams))
        if packing:
            _pack(options, report, resolver)
            return status
        packages = _packages(report, options)
        if options.json:
            print(json_text(report, packages))
        else:
            style = ReportStyle(_width(wide=options.wide), options.all, options.verbose)
            for line in report_lines(report, packages, style):
                print(line)
        sys.stdout.flush()
        print_damage(report.damage)
        return status


def _check_usage(options: argparse.Namespace) -> None:
    if not options.paths and options.pack:
        # "--pack TRACE": the word after the option was meant as the trace.
        options.paths, options.pack = [options.pack], ""
    if options.output is not None and options.pack is None:
        options.usage_error("-o goes with --pack")
    if options.pack and options.output is not None:
        options.usage_error("--pack OUT and -o OUT are the same: give one of them")
    options.pack = options.output or options.pack
    if options.full and options.pack is None:
        options.usage_error("--full goes with --pack")
    if options.pack == "" and len(options.paths) > 1:
        options.usage_error("--pack needs OUT for more than one PATH")
    if options.pack is not None and options.json:
        options.usage_error("--json does not go with --pack")


def _examined(
    source: CtfFsSource, resolver: Resolver, selection: Selection
) -> DebugInfoReport:
    from ...analysis.debug_info import examine_debug_info
    from ..render.progress import ProgressBar

    with ProgressBar("reading") as bar:
        progress = (lambda done: bar.update(None, done)) if bar.enabled else None
        return examine_debug_info(
            source, resolver, selection=selection, progress=progress
        )


def _pack(
    options: argparse.Namespace, report: DebugInfoReport, resolver: Resolver
) -> None:
    """Pack the symbols."""
    from pathlib import Path

    from ...analysis.pack import pack
    from ...debuginfo import STORE_NAME
    from ..render.debuginfo import count, size

    output = Path(options.pack or Path(options.paths[0]) / STORE_NAME)
    done = pack(report, resolver, output, full=options.full)
    print(
        f"packed {count(done.addresses, 'address')} of {count(done.objects, 'object')} "
        f"into {output} ({size(done.size)})"
    )
    for path in done.files:
        print(f"copied {plain(str(path))} ({size(path.stat().st_size)})")
    sys.stdout.flush()
    for name in dict.fromkeys(done.missing):
        print(f"vestige: nothing is known of {plain(name)}", file=sys.stderr)
    for name in dict.fromkeys(done.not_copied):
        print(
            f"vestige: not copied, it has no build ID: {plain(name)}", file=sys.stderr
        )
    print_damage(report.damage)


def _packages(report: DebugInfoReport, options: argparse.Namespace) -> dict[str, str]:
    """Ask the package manager about the objects that lack a debug file."""
    from ...analysis.debug_packages import debug_package_commands
    from ..render.debuginfo import needs_debug_file

    objects = [one for process in report.processes for one in process.objects]
    return debug_package_commands(
        one.files.host_path
        for one in objects
        if (one.events or options.all or options.json)
        and one.files.object is not None
        and needs_debug_file(one)
    )


def _width(*, wide: bool) -> int:
    """Return the columns of the terminal; in files nothing is cut."""
    width = line_width(wide=wide)
    return UNLIMITED if width is None else width
