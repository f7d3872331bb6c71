"""``vestige record --kernel`` without a program: the machine alone."""

from __future__ import annotations

from .._typing import TYPE_CHECKING
from .recording_end import how_to_end, say, until_when
from .unfit_options import NOT_HERE, check_options

if TYPE_CHECKING:
    import argparse

    from .plain_recording import PlainOptions

__all__ = ["check_machine_options", "say_how_it_ends"]

WHY = "it is for programs that are started"
_GOES = (
    "kernel",
    "kernel_context",
    "kernel_filter",
    "kernel_logger",
    "kernel_probe",
    "live",
    "max_size",
    "recover",
)
"""Options that are not, among those that are."""


def check_machine_options(options: argparse.Namespace | PlainOptions) -> None:
    """Refuse what means nothing without a program.

    Args:
        options: The command line, without a program.

    Raises:
        CommandError: Something does.
    """
    if not (options.kernel or options.kernel_probe or options.kernel_logger):
        options.refuse(
            "the following arguments are required: PROGRAM (or --kernel, for the "
            "machine alone)"
        )
    refused = {one: name for one, name in NOT_HERE.items() if one not in _GOES}
    refused["event"] = "--event"
    check_options(options, "without PROGRAM", refused, WHY)


def say_how_it_ends(options: argparse.Namespace | PlainOptions) -> None:
    """Say that the machine is recorded, and until when.

    Args:
        options: The command line.
    """
    say(
        options,
        [f"recording the kernel; {how_to_end()}{until_when(options)} ends it"],
    )
