"""Data streams of which nobody knows what is in them."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from support.recordings import DATA
from vestige.analysis.lost_metadata import lost_metadata
from vestige.cli.main import main

HELLO = DATA / "hello"


@pytest.fixture
def recording(tmp_path):
    """A recording with two domains, one of which has lost its metadata."""
    [metadata, *_] = HELLO.rglob("metadata")
    for name in ("ust", "kernel"):
        shutil.copytree(metadata.parent, tmp_path / "r" / name)
    (tmp_path / "r" / "kernel" / "metadata").unlink()
    return tmp_path / "r"


def test_check_tells_that_a_domain_has_no_metadata(recording, capfd):
    """As other damage; the other domain is read."""
    assert main(["check", str(recording)]) == 1

    text, errors = capfd.readouterr()
    assert "damaged in 1 place" in text
    assert f"{recording}/kernel/metadata: there is no such file, and nothing" in errors


def test_its_kind_has_a_name(recording, capfd):
    """For programs."""
    assert main(["check", "--json", str(recording)]) == 1

    facts = json.loads(capfd.readouterr().out)
    assert facts["status"] == "damaged"
    assert [one["kind"] for one in facts["damage"]] == ["metadata-missing"]


def test_whole_recordings_and_other_files_are_no_damage(recording, capfd):
    """Whatever lies beside traces."""
    shutil.rmtree(recording / "kernel")
    (recording / "notes").mkdir()
    (recording / "notes" / "todo.txt").write_text("all of it")
    (recording / "empty").mkdir()
    os.mkfifo(recording / "notes" / "pipe")

    assert main(["check", str(recording)]) == 0

    assert "no damage" in capfd.readouterr().out


def test_each_directory_is_told_once(recording):
    """Also if it is below two of the paths."""
    found = [*lost_metadata([recording, recording / "kernel"])]

    assert [one.path for one in found] == [str(recording / "kernel" / "metadata")]
