"""The table of reports: which option asks for which."""

from __future__ import annotations

import argparse
from importlib import import_module

from ..._typing import TYPE_CHECKING, NamedTuple
from ...errors import CommandError
from ..exit_statuses import WRONG_USAGE
from ..render.call_style import SORT_KEYS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .reading import Reading
    from .report import Report

__all__ = [
    "DEFAULT",
    "KINDS",
    "Kind",
    "add_kind_arguments",
    "call_options",
    "chosen_kind",
    "make_report",
]


class Kind(NamedTuple):
    """A report that can be asked for."""

    name: str
    """The word of its option, such as ``events``."""
    home: str
    """Its module here, which has ``make_report(reading)``."""
    summary: str
    """What it is, for the help."""
    value: str | None = None
    """What its option takes, for the help; ``None`` for nothing."""
    of_calls: bool = False
    """Whether it is about calls, and takes the options that choose some."""
    has_tree: bool = False
    """Whether it can be a tree."""
    is_repeatable: bool = False
    """Whether its option may be given several times."""
    sort_keys: tuple[str, ...] = ()
    """What its rows can be sorted by; the first one is the default."""
    has_percentiles: bool = False
    """Whether it shows percentiles."""
    by_thread: bool = False
    """Whether it can be of each thread for itself."""
    joins_threads: bool = False
    """Whether it has threads of the same name as one, unless each is asked for."""
    has_recorder_events: bool = False
    """Whether it may count events that only the recorder needs."""

    @property
    def attribute(self) -> str:
        """Its option among the parsed ones."""
        return self.name.replace("-", "_")

    @property
    def title(self) -> str:
        """What it is called in messages: its option, if it has one."""
        return "calls" if self.name == DEFAULT.name else f"--{self.name}"


DEFAULT = Kind(
    "calls",
    "calls",
    "the calls of functions",
    of_calls=True,
    has_tree=True,
    sort_keys=SORT_KEYS,
    has_percentiles=True,
    by_thread=True,
    # Of a trace without calls, events are reported.
    has_recorder_events=True,
)
"""What is reported when nothing is asked for, of traces that have calls."""

KINDS: tuple[Kind, ...] = (
    Kind(
        "events",
        "events",
        "report how many events there are of each name, when, and of which threads; "
        "the default for a trace without calls of functions",
        sort_keys=("total", "calls", "avg", "min", "max", "name"),
        has_percentiles=True,
        by_thread=True,
        has_recorder_events=True,
    ),
    Kind(
        "durations",
        "durations",
        "report how long calls of the function NAME took, or the span or pair of "
        "events NAME: a histogram, percentiles and the ten longest; or what begins "
        "with the event BEGIN and ends with END, in a thread, or where the field KEY "
        "is the same, of the same thread, process or cpu if WITHIN says so; repeatable",
        "NAME|BEGIN,END[,KEY[,WITHIN]]",
        of_calls=True,
        is_repeatable=True,
        has_percentiles=True,
    ),
    Kind(
        "callers",
        "callers",
        "report who called the function NAME",
        "NAME",
        of_calls=True,
        sort_keys=SORT_KEYS,
    ),
    Kind(
        "threads",
        "threads",
        "report which threads there are",
        sort_keys=("begin", "total", "calls", "name"),
        has_recorder_events=True,
    ),
    Kind(
        "kernel",
        "kernel",
        "report what ran on each CPU, how long threads ran and waited for a CPU, "
        "system calls and interrupts; of traces of a kernel",
        sort_keys=("total", "calls", "max", "name"),
        has_percentiles=True,
        by_thread=True,
    ),
    Kind(
        "off-cpu",
        "off_cpu",
        "report where threads waited or lost their CPU, by call stacks of the kernel "
        "and the program, as offcputime does; of traces of a kernel with sched_switch "
        "and the contexts callstack-user, callstack-kernel",
        by_thread=True,
        joins_threads=True,
    ),
    Kind(
        "stacks",
        "stacks",
        "count the events of a kernel by call stacks, as stackcount does: which of "
        "them, --event says",
        by_thread=True,
        joins_threads=True,
    ),
    Kind(
        "io",
        "io",
        "report what threads read and wrote, how long that took, requests to disks, "
        "packets, and pages of memory; of traces of a kernel",
        has_percentiles=True,
    ),
    Kind(
        "locks",
        "locks",
        "report who waited for mutexes, how long, and who had them: of what 'record "
        "--pthread' recorded",
    ),
    Kind(
        "memory",
        "memory",
        "report which memory was not freed, who asked for it, and what was freed "
        "twice: of what 'record --libc' recorded",
        has_tree=True,
    ),
)
"""The reports that options ask for; one at a time."""


_OF_CALLS = (
    "function",
    "include_function",
    "exclude_function",
    "only_my_code",
    "max_depth",
    "min_duration",
)
"""What chooses calls, and nothing else."""


def add_kind_arguments(parser: argparse.ArgumentParser) -> None:
    """Add an option for each report.

    Args:
        parser: The parser.
    """
    group = parser.add_argument_group(
        "reports", "one at a time; by default that of the calls of functions"
    ).add_mutually_exclusive_group()
    for kind in KINDS:
        if kind.value is None:
            group.add_argument(f"--{kind.name}", action="store_true", help=kind.summary)
        else:
            action = "append" if kind.is_repeatable else "store"
            group.add_argument(
                f"--{kind.name}", metavar=kind.value, action=action, help=kind.summary
            )


def call_options(options: argparse.Namespace) -> list[str]:
    """Return which options are given that are about calls, by their attributes.

    Args:
        options: The parsed command line.
    """
    return [name for name in ("tree", *_OF_CALLS) if getattr(options, name)]


def chosen_kind(options: argparse.Namespace) -> Kind:
    """Return the report that a command line asks for.

    Args:
        options: The parsed command line.

    Raises:
        CommandError: Something is asked of it that it does not have.
    """
    asked = (
        kind for kind in KINDS if getattr(options, kind.attribute) not in (None, False)
    )
    kind = next(asked, DEFAULT)
    given = next(_not_for(kind, options), None)
    if given is not None:
        raise CommandError(f"{given}: not for --{kind.name}", exit_code=WRONG_USAGE)
    if options.sort not in {None, *kind.sort_keys}:
        raise CommandError(
            f"--sort={options.sort}: not for {kind.title}, whose rows go by "
            f"{', '.join(kind.sort_keys)}",
            exit_code=WRONG_USAGE,
        )
    if options.tree and options.percentiles is not None and options.to in _OF_NODES:
        raise CommandError(
            "--percentiles: not for --tree: they are of functions, which the table, or "
            "--to json, has",
            exit_code=WRONG_USAGE,
        )
    return kind


_OF_NODES = (None, "table", "csv")
"""Forms in which a tree has nothing of its functions."""


def _not_for(kind: Kind, options: argparse.Namespace) -> Iterator[str]:
    """Yield the options that a report does not have."""
    for name in call_options(options):
        if not (kind.has_tree if name == "tree" else kind.of_calls):
            yield f"--{name.replace('_', '-')}"
    if options.percentiles is not None and not kind.has_percentiles:
        yield "--percentiles"
    if options.sort is not None and not kind.sort_keys:
        yield "--sort"
    if options.all and not kind.has_recorder_events:
        yield "--all"
    if "" in (options.thread or ()) and not kind.by_thread:
        yield "--thread without a TID"


def make_report(kind: Kind, reading: Reading) -> Report:
    """Read traces, and make a report.

    Args:
        kind: Which one.
        reading: The traces.
    """
    report: Report = import_module(f".{kind.home}", __package__).make_report(reading)
    return report
