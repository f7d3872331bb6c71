"""Run a script: ``python -m vestige.compat.babeltrace script.py ARGS``."""

from __future__ import annotations

import sys

from ..running import run_script

if __name__ == "__main__":
    sys.exit(run_script("babeltrace", "vestige.compat.babeltrace"))
