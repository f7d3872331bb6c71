"""What needs a checkout of another project is collected where there is one."""

from __future__ import annotations

import os

collect_ignore = (
    [] if os.environ.get("BABELTRACE_CHECKOUT") else ["test_babeltrace_objects.py"]
)
