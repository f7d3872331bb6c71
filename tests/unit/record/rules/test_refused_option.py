"""Options that are refused, by the names that they have where they were given."""

from __future__ import annotations

import pytest

from vestige.cli.main import main
from vestige.errors import SelectionError
from vestige.record.rules.options import RecordingOptions

KERNEL = ("sched",)
BOTH = [
    (
        {"kernel_of": "program"},
        "kernel_of: expected events of the kernel, too: with kernel, kernel_probes or",
        ["--kernel-of=program"],
        "--kernel-of: expected events of the kernel, too: with --kernel, --kernel-probe",
    ),
    (
        {"kernel_contexts": ("pid",)},
        "kernel_contexts: expected",
        ["--kernel-context=pid"],
        "--kernel-context: expected",
    ),
    (
        {"kernel": KERNEL, "max_size": 1 << 20},
        "expected mode=overwrite; or rotate_size and keep_archives",
        ["--kernel=sched", "--max-size=1M"],
        "expected --mode=overwrite; or --rotate and --keep",
    ),
    (
        {"rotate_seconds": 1.0, "mode": "overwrite"},
        "rotate_seconds: expected another mode than mode=overwrite",
        ["--rotate=1s", "--mode=overwrite"],
        "--rotate: expected another mode than --mode=overwrite",
    ),
    (
        {"rotate_size": 1 << 20, "max_size": 1 << 20},
        "rotate_size: expected no max_size",
        ["--rotate=1M", "--max-size=1M"],
        "--rotate: expected no --max-size",
    ),
    (
        {"live": 1e-6},
        "live: a period of 1e-06 s: expected 0.001 to",
        ["--live=1us"],
        "--live: a period of 1e-06 s: expected 0.001 to",
    ),
    (
        {"snapshot_on_crash": True},
        "snapshot_on_crash: expected with mode=overwrite",
        ["--snapshot-on-crash"],
        "--snapshot-on-crash: expected with --mode=overwrite",
    ),
    (
        {"patch_in": ("libz*",)},
        "patch_in: expected with patch,",
        ["--patch-in=libz*"],
        "--patch-in: expected with --patch,",
    ),
    (
        {"timeout": 0.0},
        "timeout: 0.0 s: expected",
        ["--mode=block=0"],
        "--mode=block: 0.0 s: expected",
    ),
    (
        {"max_depth": 3},
        "max_depth: expected with python_functions,",
        ["--max-depth=3"],
        "--max-depth: expected with --python-functions,",
    ),
]


@pytest.mark.parametrize(("fields", "named"), [one[:2] for one in BOTH])
def test_python_has_the_names_of_fields(fields, named):
    """Not those of options."""
    with pytest.raises(SelectionError) as raised:
        RecordingOptions(**fields)

    assert named in str(raised.value)


@pytest.mark.parametrize(("words", "said"), [one[2:] for one in BOTH])
def test_the_command_line_has_the_names_of_options(tmp_path, capsys, words, said):
    """Before anything is made or started."""
    output = tmp_path / "trace"

    assert main(["record", "-o", str(output), *words, "--", "/no/such"]) == 2

    assert said in capsys.readouterr().err
    assert not output.exists()


def test_braces_in_values_are_text():
    """Nothing is looked up in what somebody has given."""
    with pytest.raises(SelectionError, match=r"functions=\{mode\}: expected fast"):
        RecordingOptions(functions="{mode}")
