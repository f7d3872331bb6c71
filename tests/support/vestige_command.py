"""Running Vestige's command line as a user would."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from support.peers import Output, run_peer

REFERENCE_VARIABLE = "VESTIGE_TESTS_COMPARE"
"""Set to `babeltrace2`, it checks the recordings alone: the peer is compared with itself."""


def comparing_peer_with_itself() -> bool:
    """Tell whether the peer stands in for Vestige."""
    return os.environ.get(REFERENCE_VARIABLE) == "babeltrace2"


def convert(
    trace: Path, *options: str, environment: Mapping[str, str] | None = None
) -> Output:
    """Run `vestige convert` on a trace."""
    command = [sys.executable, "-m", "vestige", "convert"]
    if comparing_peer_with_itself():
        command = ["babeltrace2"]
    return run_peer([*command, *options, trace], environment=environment)


def vestige(*words: object) -> Output:
    """Run any command of Vestige; its status is part of what comes back."""
    return run_peer([sys.executable, "-m", "vestige", *map(str, words)])
