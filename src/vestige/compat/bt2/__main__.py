"""Run a script: ``python -m vestige.compat.bt2 script.py ARGS``."""

from __future__ import annotations

import sys

from ..running import run_script

if __name__ == "__main__":
    sys.exit(run_script("bt2", "vestige.compat.bt2"))
