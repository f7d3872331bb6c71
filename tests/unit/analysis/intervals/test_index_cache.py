"""Indexes are kept where nobody else writes, and made again when they do not fit."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

import vestige
from support.call_traces import enter, leave, packet, write_calls
from vestige import core
from vestige.analysis.intervals import BESIDE, IndexFile
from vestige.analysis.intervals import intervals as module

A, B = 0x1000, 0x2000
SHORT = [enter(1000, A), leave(2000)]
LONG = [enter(1000, A), enter(1100, B), leave(1200), leave(2000)]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Use a cache of our own; return the directory of its indexes."""
    monkeypatch.setenv("VESTIGE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("VESTIGE_CACHE_SIZE", raising=False)
    return tmp_path / "cache" / "intervals-2"


@pytest.fixture
def readings(monkeypatch):
    """Return a list that grows when a trace is read for an index."""
    made = []
    tree = module.call_tree
    monkeypatch.setattr(
        module,
        "call_tree",
        lambda *args, **words: made.append(1) or tree(*args, **words),
    )
    return made


def calls(path):
    """Return how many calls a trace says it has."""
    return sum(one.calls for one in vestige.open(path).intervals().threads())


def test_an_index_is_made_once(tmp_path, cache, readings):
    """And again when the trace has changed, or the file is gone."""
    path = write_calls(tmp_path / "trace", {"s": [packet(SHORT)]})
    assert (calls(path), calls(path), len(readings)) == (1, 1, 1)
    assert len(list(cache.iterdir())) == 1

    write_calls(tmp_path / "trace", {"s": [packet(LONG)]})
    assert (calls(path), len(readings)) == (2, 2)

    shutil.rmtree(cache)
    assert (calls(path), len(readings)) == (2, 3)


def damage(data, kind):
    """Return an index with some damage."""
    if kind == "cut":
        return data[:-1]
    if kind == "other version":
        return data.replace(b"vestige index 1", b"vestige index 0")
    place = {"key": 20, "checksum": 49, "body": len(data) // 2 + 30}[kind]
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


@pytest.mark.parametrize("kind", ["cut", "key", "checksum", "body", "other version"])
def test_a_damaged_index_is_made_again(tmp_path, cache, readings, kind):
    """Whatever is wrong with it."""
    path = write_calls(tmp_path / "trace", {"s": [packet(LONG)]})
    assert calls(path) == 2
    (file,) = cache.iterdir()
    whole = file.read_bytes()
    file.write_bytes(damage(whole, kind))

    assert (calls(path), len(readings)) == (2, 2)
    assert file.read_bytes() == whole


@pytest.mark.parametrize("what", ["directory", "file", "link", "pipe"])
def test_what_others_can_write_to_is_not_read(tmp_path, cache, readings, what):
    """It may say anything."""
    path = write_calls(tmp_path / "trace", {"s": [packet(SHORT)]})
    assert calls(path) == 1
    (file,) = cache.iterdir()
    if what == "directory":
        cache.chmod(0o777)
    elif what == "file":
        file.chmod(0o666)
    elif what == "link":
        file.rename(tmp_path / "elsewhere")
        file.symlink_to(tmp_path / "elsewhere")
    else:
        file.unlink()
        os.mkfifo(file, 0o600)

    assert (calls(path), len(readings)) == (1, 2)


def test_without_a_cache_nothing_is_kept(tmp_path, cache, readings, monkeypatch):
    """It is worked out each time."""
    monkeypatch.setenv("VESTIGE_CACHE_SIZE", "0")
    path = write_calls(tmp_path / "trace", {"s": [packet(SHORT)]})

    assert (calls(path), calls(path), len(readings)) == (1, 1, 2)
    assert not cache.exists()


def test_old_indexes_go_when_there_is_no_room(tmp_path, cache):
    """The one that was used longest ago first."""
    cache.mkdir(parents=True, mode=0o700)
    for age in (1, 2, 3):
        (cache / f"{age}.index").write_bytes(bytes(400))
        os.utime(cache / f"{age}.index", (1000 - age, 1000 - age))
    index = core.IntervalIndex.from_bytes(b"")
    assert index is None
    path = write_calls(tmp_path / "trace", {"s": [packet(SHORT)]})
    made = vestige.open(path).intervals().index
    size = len(made.to_bytes()) + 60

    assert IndexFile(str(cache), "new.index", bytes(32), size + 500).write(made) is None
    left = {file.name for file in cache.iterdir() if len(file.name) < 12}
    assert left == {"new.index"}
    problem = IndexFile(str(cache), "new.index", bytes(32), 10).write(made)
    assert problem == "the index is larger than the cache may become"


def test_an_index_beside_a_trace(tmp_path, cache, readings):
    """Its name begins with a dot, so that readers of CTF leave it out."""
    path = write_calls(tmp_path / "trace", {"s": [packet(LONG)]})
    before = subprocess.run(
        ["babeltrace2", path], check=True, capture_output=True, text=True
    ).stdout
    for _ in range(2):
        trace = vestige.open(path)
        assert [one.calls for one in trace.intervals(beside=True).threads()] == [2]

    assert len(readings) == 1
    assert (tmp_path / "trace" / BESIDE).exists()
    assert not cache.exists()
    after = subprocess.run(
        ["babeltrace2", path], check=True, capture_output=True, text=True
    ).stdout
    assert after == before
    assert vestige.open(path).count() == 4


def test_damage_is_told_each_time(tmp_path, cache, readings):
    """By the index, too, which has what is intact."""
    path = write_calls(tmp_path / "trace", {"s": [packet(SHORT), packet(LONG[2:])]})
    file = tmp_path / "trace" / "s"
    file.write_bytes(file.read_bytes()[:-30])
    for _ in range(2):
        with pytest.warns(vestige.TraceDamageWarning) as told:
            assert calls(path) == 1
        assert len({str(one.message) for one in told}) == 1

    assert len(readings) == 1
    assert len(list(cache.iterdir())) == 1
