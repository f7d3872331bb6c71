"""Where caches are, and files that are there as a whole."""

from __future__ import annotations

import os

import pytest

from vestige.cache_folder import cache_directory, write_whole


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"VESTIGE_CACHE_DIR": "own", "XDG_CACHE_HOME": "/base"}, "own"),
        ({"XDG_CACHE_HOME": "/base"}, "/base/vestige"),
        ({"XDG_CACHE_HOME": "relative"}, "/home/somebody/.cache/vestige"),
        ({}, "/home/somebody/.cache/vestige"),
    ],
)
def test_the_directory_is_that_of_the_environment(environment, expected, monkeypatch):
    """A relative path is taken from our own variable alone."""
    monkeypatch.setenv("HOME", "/home/somebody")

    assert cache_directory(environment) == expected


def test_who_has_no_home_has_no_cache(monkeypatch):
    """Rather than one in the working directory."""
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)

    assert cache_directory({}) is None


def test_a_file_takes_the_place_of_another(tmp_path):
    """It is the owner's alone."""
    write_whole(str(tmp_path), "name", b"first")
    write_whole(str(tmp_path), "name", b"second")

    assert [path.name for path in tmp_path.iterdir()] == ["name"]
    assert (tmp_path / "name").read_bytes() == b"second"
    assert (tmp_path / "name").stat().st_mode & 0o777 == 0o600


def test_nothing_is_left_of_what_cannot_be_written(tmp_path):
    """Neither under its name nor under another."""
    (tmp_path / "name").mkdir()

    with pytest.raises(OSError, match="directory"):
        write_whole(str(tmp_path), "name", b"data")
    assert [path.name for path in tmp_path.iterdir()] == ["name"]
