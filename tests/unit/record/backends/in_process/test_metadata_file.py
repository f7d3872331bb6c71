"""The metadata of a recording that runs is written again, beside others who write there."""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from vestige.record import RecordingOptions
from vestige.record.backends.in_process.clock import RecordingClock
from vestige.record.backends.in_process.metadata import DAMAGED_LINE
from vestige.record.backends.in_process.metadata_file import MetadataFile, mark_damaged

UUID = "01234567-89ab-4def-8123-456789abcdef"


@pytest.fixture
def metadata(tmp_path):
    """The metadata of a recording, written once."""
    made = MetadataFile(
        str(tmp_path), UUID, RecordingOptions(), RecordingClock(None), is_counter=False
    )
    made.write()
    yield made
    made.close()


def test_damage_that_another_process_has_told_stays_told(tmp_path, metadata):
    """The recorder knows nothing of it, and writes what a call costs."""
    mark_damaged(tmp_path)
    metadata.refine(cost=12)

    text = (tmp_path / "metadata").read_text(encoding="utf-8")
    assert DAMAGED_LINE in text
    assert "tracer_call_cost_ns = 12 " in text


def test_damage_that_the_recorder_knows_of_is_told(tmp_path, metadata):
    """In a file of the same length."""
    before = (tmp_path / "metadata").read_text(encoding="utf-8")
    metadata.is_damaged = True
    metadata.refine()

    after = (tmp_path / "metadata").read_text(encoding="utf-8")
    assert DAMAGED_LINE not in before
    assert DAMAGED_LINE in after
    assert len(before) == len(after)


def test_what_others_have_added_stays(tmp_path, metadata):
    """The collector writes event classes behind it."""
    with (tmp_path / "metadata").open("a", encoding="utf-8") as file:
        file.write("# more\n")
    metadata.refine()

    text = (tmp_path / "metadata").read_text(encoding="utf-8")
    assert text.endswith("# more\n")
    assert "event {" in text


def test_metadata_that_was_removed_is_written_whole(tmp_path, metadata):
    """What is left of the trace can be read then."""
    before = (tmp_path / "metadata").read_text(encoding="utf-8")
    (tmp_path / "metadata").unlink()
    metadata.refine()

    after = (tmp_path / "metadata").read_text(encoding="utf-8")
    assert after.count("event {") == before.count("event {") > 0


def test_metadata_are_there_as_a_whole_or_not_at_all(tmp_path, metadata, monkeypatch):
    """Readers refuse an archive with an empty file."""
    (tmp_path / "metadata").unlink()

    def refuse(*_):
        assert not (tmp_path / "metadata").exists()
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", refuse)
        with pytest.raises(OSError, match="No space left"):
            metadata.write()
    assert [*tmp_path.iterdir()] == []
    metadata.write()
    assert [one.name for one in tmp_path.iterdir()] == ["metadata"]


def test_a_machine_that_gets_another_name_spoils_nothing(
    tmp_path, metadata, monkeypatch
):
    """As containers and machines that start do; the text has the length that it had."""
    before = (tmp_path / "metadata").read_text(encoding="utf-8")
    named = SimpleNamespace(nodename=2 * os.uname().nodename, sysname="Linux")
    monkeypatch.setattr(os, "uname", lambda: named)
    metadata.refine()

    after = (tmp_path / "metadata").read_text(encoding="utf-8")
    assert len(after) == len(before)
    assert f'hostname = "{named.nodename}"' not in after
    assert after.endswith(before[before.index("stream {") :])
