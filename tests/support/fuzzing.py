"""How many seeds the fuzz tests of the protocols of programs have."""

from __future__ import annotations

import os
import secrets

__all__ = ["protocol_seeds"]

FEW = 8


def protocol_seeds() -> range:
    """Return the seeds: the same few ones, or as many new ones as `make fuzz` wants."""
    wanted = int(os.environ.get("VESTIGE_FUZZ_SEEDS", "0"))
    if not wanted:
        return range(FEW)
    # A test's name has its seed, so that what was found is found again.
    first = int(os.environ.get("VESTIGE_FUZZ_FIRST", "0")) or secrets.randbits(32)
    return range(first, first + wanted)
