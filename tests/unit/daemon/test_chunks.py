"""Chunks are moved as wholes, or not at all."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from vestige.daemon.chunks import (
    ArchiveExistsError,
    archive_chunk,
    archive_name,
    begin_left_chunks,
    complete_archive,
    remove_unreadable,
    remove_unused,
    take_back,
)

NOON = 1_795_694_400.0
"""2026-11-26, 12:00 UTC."""


def test_names_have_begin_end_and_number():
    """With the distance from UTC; a clock that was set back ends nothing too soon."""
    name = archive_name(NOON, NOON + 61, 3)
    stamp = r"\d{8}T\d{6}[+-]\d{4}"
    assert re.fullmatch(f"{stamp}-{stamp}-3", name)
    assert archive_name(NOON, NOON - 3600, 0) == archive_name(NOON, NOON, 0)
    first, last, _ = re.fullmatch(f"({stamp})-({stamp})-(3)", name).groups()
    assert first < last


def test_a_chunk_is_moved_and_another_begins(tmp_path: Path):
    """What is in it stays together."""
    (tmp_path / "ust/uid").mkdir(parents=True)
    (tmp_path / "ust/uid/data").write_text("x")
    assert archive_chunk(str(tmp_path), "a") == str(tmp_path / "archives/a")
    assert (tmp_path / "archives/a/ust/uid/data").read_text() == "x"
    assert not [*(tmp_path / "ust").iterdir()]
    archive_chunk(str(tmp_path), "b", goes_on=False)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["archives"]


def test_a_name_that_is_taken_is_refused(tmp_path: Path):
    """The chunk stays where it is."""
    (tmp_path / "ust").mkdir()
    (tmp_path / "ust/data").write_text("x")
    (tmp_path / "archives/a").mkdir(parents=True)
    with pytest.raises(ArchiveExistsError):
        archive_chunk(str(tmp_path), "a")
    assert (tmp_path / "ust/data").exists()


@pytest.mark.parametrize("kind", ["file", "pipe"])
def test_a_file_in_place_of_the_directory_is_no_archive_of_that_name(
    tmp_path: Path, kind: str
):
    """No other name would help; and nobody waits for a writer of a pipe."""
    output = tmp_path / "out"
    if kind == "file":
        output.touch()
    else:
        os.mkfifo(output)
    with pytest.raises(NotADirectoryError):
        archive_chunk(str(output), "a")


def test_a_directory_that_is_there_already_is_taken(tmp_path: Path, monkeypatch):
    """Somebody was faster: the chunk was moved, and whoever writes goes on there."""
    (tmp_path / "ust/uid").mkdir(parents=True)
    rename = os.rename

    def race(old, new, **where):
        rename(old, new, **where)
        if new == "ust" and old == "ust":
            (tmp_path / "ust/other").mkdir(parents=True)

    monkeypatch.setattr(os, "rename", race)
    archive_chunk(str(tmp_path), "a")
    assert (tmp_path / "archives/a/ust/uid").is_dir()
    assert (tmp_path / "ust/other").is_dir()


@pytest.mark.parametrize("where", ["archives", "ust"])
def test_links_are_not_followed(tmp_path: Path, where: str):
    """Neither to write into another directory, nor to remove what is in one."""
    output, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine").write_text("x")
    output.mkdir()
    (output / where).symlink_to(elsewhere)
    if where == "archives":
        (output / "ust").mkdir()
        with pytest.raises(OSError, match="archives"):
            archive_chunk(str(output), "a")
        assert (output / "ust").is_dir()
    remove_unused(str(output), [])
    assert [one.name for one in elsewhere.iterdir()] == ["mine"]


def test_a_chunk_without_a_directory_is_empty(tmp_path: Path):
    """Somebody has removed it."""
    archive_chunk(str(tmp_path / "out"), "a")
    assert not [*(tmp_path / "out/archives/a/ust").iterdir()]


def test_only_traces_that_are_in_use_stay(tmp_path: Path):
    """With the directories above them; of others nothing does, and links are removed."""
    used, gone = tmp_path / "ust/pid/a", tmp_path / "ust/pid/b"
    for one in (used, gone, tmp_path / "ust/uid/0/64-bit"):
        one.mkdir(parents=True)
        (one / "data").write_text("x")
    (tmp_path / "ust/link").symlink_to(tmp_path)
    remove_unused(str(tmp_path), [str(used)])
    found = sorted(
        os.path.relpath(one, tmp_path) for one in (tmp_path / "ust").rglob("*")
    )
    assert found == ["ust/pid", "ust/pid/a", "ust/pid/a/data"]


def make_trace(folder: Path, metadata: str, arena: str = "") -> None:
    """Make a trace, with a collector that goes on with it or without."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "metadata").write_text(metadata)
    if arena:
        (folder / ".arena").write_text(arena)


def test_an_archive_stays_from_the_first_trace_that_has_begun(tmp_path: Path):
    """The next chunk of others begins with their metadata, if buffers are left."""
    present, archived = tmp_path / "ust", tmp_path / "archives/a/ust"
    for name in ("begun", "empty", "some", "none", "ended"):
        make_trace(present / name, "text of " + name)
    archive_chunk(str(tmp_path), "a")
    make_trace(present / "begun", "text of begun, and more")
    make_trace(present / "empty", "")
    make_trace(present / "some", "text")
    recorded = {str(present / one) for one in ("begun", "empty", "some", "none")}
    for _ in range(2):
        # Once more if the next daemon is killed, too.
        assert complete_archive(str(tmp_path), "a", recorded)
        found = {one.parent.name: one.read_text() for one in archived.rglob("metadata")}
        assert found == {one.name: "text of " + one.name for one in archived.iterdir()}
        assert len(found) == 5
        now = {one.parent.name: one.read_text() for one in present.rglob("metadata")}
        assert now == {
            "begun": "text of begun, and more",
            "empty": "text of empty",
            "some": "text of some",
            "none": "text of none",
        }


def test_what_collectors_go_on_with_is_taken_back(tmp_path: Path):
    """The register moves last: until then, the next chunk has not begun."""
    present, archived = tmp_path / "ust", tmp_path / "archives/a/ust"
    for name in ("begun", "left", "untouched"):
        make_trace(present / name, name, "before")
    archive_chunk(str(tmp_path), "a")
    make_trace(present / "begun", "text", "after")
    make_trace(present / "left", "text")
    (present / "left/.arena.next").write_text("after")
    assert complete_archive(str(tmp_path), "a", ())
    assert [one.name for one in archived.iterdir()] == ["begun"]
    assert [one.name for one in (archived / "begun").iterdir()] == ["metadata"]
    for name, text in (("begun", "after"), ("left", "before"), ("untouched", "before")):
        assert (present / name / ".arena").read_text() == text
    assert not (present / "left/.arena.next").exists()


def test_chunks_of_what_is_collected_begin_where_others_have(tmp_path: Path):
    """With an empty directory each; if none has begun, all are taken back later."""
    present, archived = tmp_path / "ust", tmp_path / "archives/a/ust"
    for name in ("begun", "left", "ended"):
        make_trace(present / name, name, "" if name == "ended" else "before")
    assert begin_left_chunks(str(tmp_path), "a") == []
    archive_chunk(str(tmp_path), "a")
    make_trace(present / "left", "text")
    (present / "left/.arena.next").write_text("after")
    assert begin_left_chunks(str(tmp_path), "a") == []
    make_trace(present / "begun", "text", "after")
    left = begin_left_chunks(str(tmp_path), "a")
    assert left == [(str(archived / "left"), str(present / "left"))]
    assert [one.name for one in (present / "left").iterdir()] == ["index"]


def test_an_archive_is_taken_back_as_a_whole(tmp_path: Path):
    """There is none if nothing has begun; and none where nothing was moved."""
    (tmp_path / "ust/uid").mkdir(parents=True)
    (tmp_path / "ust/uid/metadata").write_text("x")
    assert not complete_archive(str(tmp_path), "a", ())
    archive_chunk(str(tmp_path), "a")
    make_trace(tmp_path / "ust/uid", "")
    assert not complete_archive(str(tmp_path), "a", ())
    assert (tmp_path / "ust/uid/metadata").read_text() == "x"
    assert not (tmp_path / "archives/a").exists()


def test_traces_without_metadata_are_removed(tmp_path: Path):
    """Unless there is memory that somebody has to collect."""
    present = tmp_path / "ust"
    make_trace(present / "whole", "x")
    make_trace(present / "empty", "")
    make_trace(present / "collected", "", "y")
    remove_unreadable(str(tmp_path))
    assert sorted(one.name for one in present.iterdir()) == ["collected", "whole"]


def test_what_goes_on_is_taken_back(tmp_path: Path):
    """A trace without a collector is complete, though it has no successor."""
    goes_on, complete = "ust/uid/0/64-bit-vestige/c", "ust/uid/0/64-bit"
    for one in (goes_on, complete):
        (tmp_path / one).mkdir(parents=True)
        (tmp_path / one / "metadata").write_text("x")
    (tmp_path / goes_on / ".arena").write_text("y")
    archive_chunk(str(tmp_path), "a")
    assert take_back(str(tmp_path), "a")
    assert (tmp_path / goes_on / ".arena").exists()
    assert not (tmp_path / "archives/a" / goes_on).exists()
    assert (tmp_path / "archives/a" / complete / "metadata").exists()
