"""The table of forms that reports are written in, for people and for programs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module

from ..._typing import TYPE_CHECKING, NamedTuple
from ...errors import CommandError
from ..exit_statuses import WRONG_USAGE

if TYPE_CHECKING:
    from ..render.call_style import CallStyle
    from .kinds import Kind
    from .reading import Reading
    from .report import Report

__all__ = [
    "FORMS",
    "TABLE",
    "Form",
    "add_form_arguments",
    "chosen_form",
    "own_report",
    "write",
]


class Form(NamedTuple):
    """A form of reports."""

    name: str
    """The word after ``--to``."""
    home: str
    """Its module here, which has ``write(report, style, reading)``, an iterable of
    ``str`` or ``bytes``."""
    summary: str
    """What it is, for the help."""
    reports: tuple[str, ...] | None = None
    """The names of the reports that have it; ``None`` for all."""
    reads: bool = False
    """Whether it reads traces itself: its module has ``make_report(reading)``, too."""
    is_text: bool = True
    """Whether people can read it: what is none does not go to a terminal."""
    has_rows: bool = True
    """Whether it has rows, which can be sorted and limited."""


TABLE = "table"
_WITH_STACKS = ("calls", "off-cpu", "stacks")
FORMS: tuple[Form, ...] = (
    Form(TABLE, "as_table", "for people"),
    Form("json", "as_json", "all facts"),
    Form("csv", "as_csv", "the main table"),
    Form(
        "folded", "as_viewer", "stacks for flame graphs", _WITH_STACKS, has_rows=False
    ),
    Form("speedscope", "as_viewer", "for speedscope", _WITH_STACKS, has_rows=False),
    Form(
        "pprof",
        "as_viewer",
        "for go tool pprof",
        _WITH_STACKS,
        is_text=False,
        has_rows=False,
    ),
    Form(
        "html",
        "as_html",
        "a page for a browser: timeline and flame graph",
        ("calls", "events"),
        reads=True,
        has_rows=False,
    ),
)


def add_form_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how and where a report is written.

    Args:
        parser: The parser.
    """
    forms = ", ".join(f"{form.name} ({form.summary})" for form in FORMS)
    group = parser.add_argument_group("output")
    group.add_argument(
        "--to",
        metavar="FORM",
        choices=[form.name for form in FORMS],
        help=f"write the report in another form: {forms}",
    )
    group.add_argument(
        "--json",
        dest="to",
        action="store_const",
        const="json",
        help="the same as --to json",
    )
    group.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write to FILE instead of standard output (-)",
    )


def chosen_form(options: argparse.Namespace, kind: Kind) -> Form:
    """Return the form that a command line asks for.

    Args:
        options: The parsed command line.
        kind: The report that is to have it.

    Raises:
        CommandError: The report has no such form, or it is none for a terminal.
    """
    form = next(form for form in FORMS if form.name == (options.to or TABLE))
    if form.reports is not None and kind.name not in form.reports:
        having = ", ".join(
            name if name == "calls" else f"--{name}" for name in form.reports
        )
        raise CommandError(
            f"--to {form.name}: not a form of --{kind.name}; reports that have it: "
            f"{having}",
            exit_code=WRONG_USAGE,
        )
    given = None if form.has_rows else next(_of_rows(form, kind, options), None)
    if given is not None:
        raise CommandError(
            f"{given}: not for --to {form.name}, which has no rows",
            exit_code=WRONG_USAGE,
        )
    if not form.is_text and not goes_to_file(options) and sys.stdout.isatty():
        raise CommandError(
            f"--to {form.name}: not for a terminal; name a file with -o FILE",
            exit_code=WRONG_USAGE,
        )
    return form


def _of_rows(form: Form, kind: Kind, options: argparse.Namespace) -> Iterator[str]:
    """Yield the options that say which rows there are, and what is in them."""
    # What reads traces itself refuses those that choose calls, and says why.
    of_calls = () if form.reads else ("tree", "function")
    for name in ("sort", "limit", "percentiles", "all", *of_calls):
        if getattr(options, name) not in (None, False, []):
            yield f"--{name}"
    if "" in (options.thread or ()) and not kind.joins_threads:
        yield "--thread without a TID"


def own_report(form: Form, reading: Reading) -> Report | None:
    """Return the report of a form that reads traces itself; ``None`` if it does not.

    Args:
        form: The form.
        reading: The traces.
    """
    if not form.reads:
        return None
    home = import_module(f".{form.home}", __package__)
    report: Report = home.make_report(reading)
    return report


def goes_to_file(options: argparse.Namespace) -> bool:
    """Decide whether a report is written to a file.

    Args:
        options: The parsed command line.
    """
    return options.output not in {None, "-"}


def write(form: Form, report: Report, style: CallStyle, reading: Reading) -> None:
    """Write a report.

    Args:
        form: In which form.
        report: The report.
        style: What is shown of it.
        reading: What it was made of, and where it goes.

    Raises:
        OSError: The file cannot be written.
    """
    home = import_module(f".{form.home}", __package__)
    parts: Iterable[str | bytes] = home.write(report, style, reading)
    if goes_to_file(reading.options):
        with open(reading.options.output, "wb") as file:  # noqa: PTH123 - pathlib takes long to import
            file.writelines(_encoded(part) for part in parts)
        return
    for part in parts:
        if isinstance(part, bytes):
            sys.stdout.flush()
            sys.stdout.buffer.write(part)
        else:
            sys.stdout.write(part)
    sys.stdout.flush()


def _encoded(part: str | bytes) -> bytes:
    # Names of files may hold bytes that are no UTF-8.
    if isinstance(part, bytes):
        return part
    return part.encode("utf-8", "surrogateescape")
