"""Options of ``vestige record`` that mean nothing without a program to start."""

from __future__ import annotations

from .._typing import TYPE_CHECKING
from ..errors import CommandError
from .exit_statuses import WRONG_USAGE

if TYPE_CHECKING:
    import argparse

    from .plain_recording import PlainOptions

__all__ = ["NOT_HERE", "check_options"]

NOT_HERE = {
    "arena_size": "--arena-size",
    "entries": "--entries",
    "exclude_function": "--exclude-function",
    "follow_fork": "--no-follow-fork",
    "functions": "--functions",
    "helpers": "--libc, --pthread or --dl",
    "include_function": "--include-function",
    "inherit_socket": "--inherit-socket",
    "keep_lttng": "--keep-lttng",
    "kernel": "--kernel",
    "kernel_context": "--kernel-context",
    "kernel_filter": "--kernel-filter",
    "kernel_logger": "--kernel-logger",
    "kernel_of": "--kernel-of",
    "kernel_probe": "--kernel-probe",
    "library_calls": "--library-calls",
    "max_depth": "--max-depth",
    "max_size": "--max-size",
    "min_duration": "--min-duration",
    "only_my_code": "--only-my-code",
    "patch": "--patch",
    "patch_in": "--patch-in",
    "patch_wait": "--patch-wait",
    "probe": "--probe",
    "python_arguments": "--python-arguments",
    "python_functions": "--python-functions",
    "python_gc": "--python-gc",
    "live": "--live",
    "python_tracebacks": "--python-tracebacks",
    "recover": "--recover",
    "timeout": "--mode=block=TIMEOUT",
}
"""Options for programs that are started, by what they set."""


def check_options(
    options: argparse.Namespace | PlainOptions,
    what: str,
    refused: dict[str, str],
    why: str,
) -> None:
    """Refuse options that mean nothing for what runs, or has its own.

    Args:
        options: The command line.
        what: The option that they do not go with.
        refused: Names of options, by what they set.
        why: A sentence.

    Raises:
        CommandError: One of them is given.
    """
    from .plain_recording import DEFAULTS

    for name, option in refused.items():
        default = DEFAULTS[name]
        value = getattr(options, name)
        if value != (list(default) if isinstance(default, tuple) else default):
            raise CommandError(
                f"{what}: expected no {option}: {why}",
                exit_code=WRONG_USAGE,
            )
