"""Reading ELF files: what recordings wait for."""

from __future__ import annotations

import subprocess
import sys

import pytest

from vestige.errors import RecordError
from vestige.inspect.elf import open_elf

SLOW = ("contextlib", "functools", "pathlib", "typing", "vestige.core")
"""Each takes longer to import than the module itself."""


def test_its_import_waits_for_little():
    """What is there before it was asked for by others."""
    program = (
        "import sys; before = {*sys.modules}; import vestige.inspect.elf; "
        f"print({{*{SLOW!r}}} & {{*sys.modules}} - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is no ELF file: it is empty"),
        (b"#!/bin/sh", "is no ELF file"),
        (b"\x7fELF" + bytes(8), "is a damaged ELF file: not an ELF file"),
        (b"\x7fELF\2\1" + b"\xff" * 58, "is a damaged ELF file: cut off"),
        (None, "cannot be read: No such file"),
    ],
)
def test_what_is_no_elf_file_is_refused(tmp_path, content, message):
    """On opening, or in the block."""
    path = tmp_path / "program"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(RecordError, match=message), open_elf(path) as image:
        list(image.symbols(2))
