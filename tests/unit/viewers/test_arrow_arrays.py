"""Arrays of Arrow are those that pyarrow makes, without pandas."""

from __future__ import annotations

import subprocess
import sys

import pyarrow as pa

from support.recordings import DEMO
from vestige.viewers.arrow_arrays import numbers, texts


def test_arrays_are_those_of_pyarrow():
    """Of any length, and with none in between."""
    for count in range(20):
        values = [None if one % 3 == 1 else one - 5 for one in range(count)]
        assert numbers(pa, values).equals(pa.array(values, pa.int32()))
        assert numbers(pa, range(count)).equals(pa.array(range(count), pa.int32()))
    words = ["", "ü", "a longer one", "∆t"]
    for count in range(len(words) + 1):
        assert texts(pa, words[:count]).equals(pa.array(words[:count], pa.string()))


def test_nothing_imports_pandas(tmp_path):
    """It takes more memory than all else together."""
    program = (
        "import sys; from vestige.cli.main import main\n"
        "status = main(sys.argv[1:])\n"
        "print(status, sorted({'pandas', 'pyarrow'} & set(sys.modules)))"
    )
    words = ["export", "--calls", "--to", "parquet", "-o", tmp_path / "calls.parquet"]
    found = subprocess.run(
        [sys.executable, "-c", program, *words, DEMO / "trace"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert found.stdout.splitlines()[-1] == "0 ['pyarrow']"
