"""Finding trace directories below a path."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.recordings import DATA
from vestige.ctf import find_traces
from vestige.ctf.reading import discovery
from vestige.ctf.reading.discovery import data_file_names
from vestige.errors import NotATraceError


def make_trace(directory):
    """Make a directory that looks like a trace; return it."""
    directory.mkdir(parents=True)
    (directory / "metadata").write_text("/* CTF 1.8 */\n")
    return directory


def names_of(path):
    """Return the relative names of the traces at or below a path."""
    return [trace.relative_name for trace in find_traces(path)]


def test_a_trace_directory_itself_has_no_relative_name(tmp_path):
    """It is the one that was given."""
    make_trace(tmp_path / "trace")
    [found] = find_traces(tmp_path / "trace")

    assert (found.directory, found.relative_name) == (tmp_path / "trace", "")


def test_traces_below_are_named_by_their_path_and_sorted(tmp_path):
    """As LTTng nests them; the order in the file system does not matter."""
    for name in (
        "ust/uid/1000/64-bit",
        "kernel",
        "ust/uid/0/64-bit",
        "ust/uid/0/32-bit",
    ):
        make_trace(tmp_path / name)
    found = find_traces(tmp_path)

    assert [trace.relative_name for trace in found] == [
        "kernel",
        "ust/uid/0/32-bit",
        "ust/uid/0/64-bit",
        "ust/uid/1000/64-bit",
    ]
    assert [trace.directory for trace in found] == [
        tmp_path / trace.relative_name for trace in found
    ]


def test_a_real_tree_of_per_process_buffers():
    """Two processes, each with a trace of its own."""
    assert names_of(DATA / "threads-pid") == [
        "ust/pid/threads-68-20261121-072029",
        "ust/pid/threads-69-20261121-072029",
    ]


def test_nothing_is_looked_for_below_a_trace(tmp_path):
    """What is in it belongs to it."""
    make_trace(tmp_path / "outer")
    make_trace(tmp_path / "outer" / "inner")

    assert names_of(tmp_path) == ["outer"]


@pytest.mark.parametrize("suffix", ["", "/", "//", "/.", "/ust/.."])
def test_a_path_may_be_written_in_many_ways(suffix):
    """The names do not change."""
    assert names_of(f"{DATA}/hello{suffix}") == ["ust/uid/0/64-bit"]


def test_a_relative_path_is_made_absolute(tmp_path, monkeypatch):
    """By the working directory of this moment."""
    make_trace(tmp_path / "here" / "kernel")
    monkeypatch.chdir(tmp_path)
    [found] = find_traces("here")

    assert found.directory == tmp_path / "here" / "kernel"
    assert found.directory.is_absolute()


def test_symbolic_links_are_kept(tmp_path):
    """A linked trace has the name of the link."""
    make_trace(tmp_path / "real")
    (tmp_path / "link").symlink_to("real")
    [found] = find_traces(tmp_path / "link")

    assert found.directory == tmp_path / "link"


def test_links_below_the_path_are_not_followed(tmp_path):
    """They might lead round in a circle."""
    make_trace(tmp_path / "tree" / "kernel")
    (tmp_path / "tree" / "loop").symlink_to(tmp_path, target_is_directory=True)

    assert names_of(tmp_path / "tree") == ["kernel"]


def test_a_directory_named_metadata_makes_no_trace(tmp_path):
    """Only a file does."""
    make_trace(tmp_path / "metadata" / "kernel")

    assert names_of(tmp_path) == ["metadata/kernel"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda _: None, "no such file or directory"),
        (lambda path: path.write_text("text"), "not a directory"),
        (lambda path: path.mkdir(), "no CTF trace here or below"),
        (
            lambda path: (path / "a" / "b").mkdir(parents=True),
            "no CTF trace here or below",
        ),
        (lambda path: path.symlink_to("nowhere"), "no such file or directory"),
        (lambda path: path.symlink_to(path.name), "no such file or directory"),
    ],
    ids=["missing", "file", "empty", "empty tree", "dangling link", "link to itself"],
)
def test_a_path_without_a_trace_is_an_error_with_the_path_as_given(
    tmp_path, monkeypatch, make, message
):
    """So that the person recognises what was typed."""
    monkeypatch.chdir(tmp_path)
    make(Path("given"))
    with pytest.raises(NotATraceError, match=message) as caught:
        find_traces("given")

    assert caught.value.path == "given"
    assert str(caught.value).startswith("given: ")


def test_a_directory_that_cannot_be_listed_is_an_error(unprivileged):
    """Not an empty one: its traces would be missing silently."""
    make_trace(unprivileged / "kernel")
    (unprivileged / "secret").mkdir(mode=0)
    with pytest.raises(NotATraceError, match="cannot list the directory") as caught:
        find_traces(unprivileged)

    assert caught.value.path == str(unprivileged / "secret")


def test_data_files_are_all_visible_files_but_the_metadata(tmp_path):
    """No hidden ones, no directories, no empty files; sorted by name."""
    make_trace(tmp_path / "trace")
    for name in ("channel_1", "channel_0", ".hidden"):
        (tmp_path / "trace" / name).write_bytes(b"data")
    (tmp_path / "trace" / "empty").touch()
    (tmp_path / "trace" / "index").mkdir()
    (tmp_path / "trace" / "dangling").symlink_to("nowhere")
    (tmp_path / "trace" / "linked").symlink_to("channel_0")

    assert data_file_names(tmp_path / "trace") == ["channel_0", "channel_1", "linked"]


def test_a_directory_that_is_gone_is_an_error_of_its_own(tmp_path):
    """A session has moved it to an archive since it was found."""
    with pytest.raises(NotATraceError, match="cannot list the directory"):
        data_file_names(tmp_path / "none")


@pytest.fixture
def begun(tmp_path, monkeypatch):
    """A recording of both domains that begins, and what happens at each look."""
    (tmp_path / "ust").mkdir()
    (tmp_path / "ust" / discovery.REGISTER).touch()
    steps = []
    times = iter(range(1000))
    monkeypatch.setattr(discovery.time, "sleep", lambda _: steps.pop(0)())
    monkeypatch.setattr(discovery.time, "monotonic", lambda: next(times) / 100)
    return tmp_path, steps


def test_who_comes_at_the_beginning_gets_both_domains(begun):
    """The kernel's trace is there first, and that of programs comes at once."""
    path, steps = begun
    steps += [
        lambda: make_trace(path / "kernel"),
        lambda: None,
        (path / "ust/metadata").touch,
    ]

    assert names_of(path) == ["kernel", "ust"]
    assert steps == []


def test_a_beginning_that_never_ends_is_read_as_far_as_it_came(begun):
    """Its recorder was killed."""
    path, steps = begun
    steps += [lambda: None] * 300
    with pytest.raises(NotATraceError, match="no CTF trace"):
        find_traces(path)
    make_trace(path / "kernel")

    assert names_of(path) == ["kernel"]
    assert 0 < len(steps) < 299


def test_others_do_not_wait_for_what_begins_below(begun):
    """As of a session that has many traces."""
    path, _ = begun
    make_trace(path / "uid/1000")

    assert names_of(path) == ["uid/1000"]
