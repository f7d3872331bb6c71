"""Options about the memory of a recording, and about what happens when it is full."""

from __future__ import annotations

import argparse

from .durations import parse_seconds

__all__ = ["add_memory_arguments"]

_MODES = ("block", "discard", "overwrite")


class _Mode(argparse.Action):
    """Takes a mode, and the timeout of the first."""

    def __call__(
        self,
        _parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        _option: str | None = None,
    ) -> None:
        """Keep the mode and the timeout apart."""
        mode, sign, timeout = str(values).partition("=")
        if mode not in _MODES or (sign and mode != "block"):
            raise argparse.ArgumentError(
                self,
                f"{values}: expected block, block=TIMEOUT, discard or overwrite",
            )
        namespace.mode = mode
        if sign:
            seconds = parse_seconds(timeout)
            if seconds is None:
                raise argparse.ArgumentError(
                    self, f"{values}: expected a time such as 500ms, 10s or 1m"
                )
            namespace.timeout = seconds


def add_memory_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options ``--buffer-size``, ``--arena-size`` and ``--mode``.

    Args:
        parser: Of the verb ``record``.
    """
    parser.add_argument(
        "--buffer-size",
        metavar="SIZE",
        default="4M",
        help="buffer size of each thread, with k, M or G (default: 4M); a buffer has "
        "up to 64 packets, and no event is larger than a packet (64k)",
    )
    parser.add_argument(
        "--arena-size",
        metavar="SIZE",
        help="memory for the buffers of all threads, used as far as it is needed "
        "(default: 256M, and a packet more for each thread)",
    )
    parser.set_defaults(timeout=10.0)
    parser.add_argument(
        "--mode",
        action=_Mode,
        metavar="MODE",
        default="block",
        help="what to do when buffers are full: let the thread wait (block, the "
        "default), up to a TIMEOUT without progress (block=10s), or drop new events "
        "(discard); overwrite: drop the oldest events of a recording that has its "
        "maximum size",
    )
