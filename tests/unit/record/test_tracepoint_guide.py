"""The guide's program is built and recorded with the guide's own commands."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.instrumented import payloads

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

GUIDE = Path(__file__).parents[3] / "docs/guide/tracepoints.md"
FILE = re.compile(r"`(shop[\w-]*\.[ch])`:\n\n```c\n(.*?)```", re.DOTALL)
COMMANDS = re.compile(r"```sh\n(.*?)```", re.DOTALL)
PYTHON = re.compile(r"```py\n(.*?)```", re.DOTALL)
ORDERS = [
    ("shop:order", {"number": number, "customer": customer})
    for number, customer in enumerate(["Ada", "Grace", "Edsger"])
]


def test_the_guide(tmp_path):
    """Each file, each command, and what Python prints."""
    text = GUIDE.read_text(encoding="utf-8")
    for name, content in FILE.findall(text):
        (tmp_path / name).write_text(content, encoding="utf-8")
    first, rules, second = COMMANDS.findall(text)
    [python] = PYTHON.findall(text)
    (tmp_path / "read.py").write_text(python, encoding="utf-8")
    executable = shlex.quote(sys.executable)
    script = (
        f'vestige() {{ {executable} -m vestige "$@"; }}\n'
        # The second part builds the program again.
        f"{first}\n{executable} read.py\n{rules}\n{second}\n"
    )
    done = subprocess.run(
        ["sh", "-ec", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "NO_COLOR": "1"},
    )

    assert done.returncode == 0, done.stderr
    assert "no function calls" not in done.stderr
    assert len(list(tmp_path.glob("shop*.[ch]"))) == 5
    assert payloads(tmp_path / "shop-trace") == ORDERS
    assert payloads(tmp_path / "grace") == ORDERS[1:2]
    assert payloads(tmp_path / "severe") == []
    assert payloads(tmp_path / "preloaded-trace") == ORDERS
    assert re.findall(r"shop\.c:8 (\w+)", done.stdout) == ["Ada", "Grace", "Edsger"]
