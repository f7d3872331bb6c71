"""Plans that are kept: found again, believed only if they are ours, and not too many."""

from __future__ import annotations

import os
import platform
import shutil
import time

import pytest

from support.compilers import PROGRAMS, run_tool
from vestige.record.backends.in_process import plan_cache, plans
from vestige.record.backends.in_process.object_plan import ObjectPlan, chosen
from vestige.record.backends.in_process.plan_cache import PlanCache

PLAN = ObjectPlan("00ff", "", 2, 1, b"plan\0\n", b"+10 one\0-20 two\n")


@pytest.fixture
def cache(tmp_path):
    """An empty one."""
    return PlanCache(str(tmp_path / "cache"))


def entry(tmp_path, name="name"):
    """Return the file of a plan."""
    return tmp_path / "cache/plans-1" / name


def test_what_was_kept_is_found(cache):
    """With all its parts, and only for what it was made of."""
    assert cache.find("name", "facts") is None
    cache.keep("name", "facts", PLAN)
    assert cache.find("name", "facts") == PLAN
    assert cache.find("name", "other facts") is None
    assert cache.find("other", "facts") is None
    refused = ObjectPlan("", "is a Go program", 0, 0, b"", b"")
    cache.keep("name", "facts", refused)
    assert cache.find("name", "facts") == refused


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_what_others_may_write_to_is_not_believed(cache, tmp_path, mode):
    """Neither a file of theirs nor a directory."""
    cache.keep("name", "facts", PLAN)
    entry(tmp_path).chmod(mode)
    assert cache.find("name", "facts") is None
    entry(tmp_path).chmod(0o600)
    entry(tmp_path).parent.chmod(mode | 0o100)
    assert cache.find("name", "facts") is None
    cache.keep("other", "facts", PLAN)
    assert not entry(tmp_path, "other").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give files away")
def test_what_belongs_to_others_is_not_believed(cache, tmp_path):
    """Nor is it changed."""
    cache.keep("name", "facts", PLAN)
    os.chown(entry(tmp_path), 12345, 12345)
    assert cache.find("name", "facts") is None
    os.chown(entry(tmp_path), 0, 0)
    os.chown(entry(tmp_path).parent, 12345, 12345)
    assert cache.find("name", "facts") is None


def test_links_are_not_followed(cache, tmp_path):
    """Whatever they lead to."""
    cache.keep("name", "facts", PLAN)
    entry(tmp_path, "other").symlink_to(entry(tmp_path))
    assert cache.find("other", "facts") is None


def test_damage_is_noticed(cache, tmp_path):
    """A plan becomes code: each byte of it matters."""
    cache.keep("name", "facts", PLAN)
    data = entry(tmp_path).read_bytes()
    for at in range(len(data)):
        for damaged in (data[:at], data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]):
            entry(tmp_path).write_bytes(damaged)
            assert cache.find("name", "facts") is None
    entry(tmp_path).write_bytes(b"")
    assert cache.find("name", "facts") is None


def test_it_has_a_bound(tmp_path):
    """What was used longest ago goes first, and what writers left behind."""
    size = 100_000
    large = PLAN._replace(plan=bytes(size))
    cache = PlanCache(str(tmp_path / "cache"), limit=int(2.5 * size))
    for number, name in enumerate(["one", "two"]):
        cache.keep(name, "facts", large)
        os.utime(entry(tmp_path, name), (number, number))
    assert cache.find("one", "facts") == large
    abandoned = entry(tmp_path, ".tmp-1-2")
    abandoned.write_bytes(b"x")
    os.utime(abandoned, (1, 1))
    cache.keep("three", "facts", large)
    names = {path.name for path in entry(tmp_path).parent.iterdir()}
    assert names == {"one", "three"}
    cache.keep("huge", "facts", PLAN._replace(plan=bytes(3 * size)))
    assert cache.find("huge", "facts") is None
    assert cache.find("three", "facts") == large


def test_no_cache_is_no_error(tmp_path):
    """Where it is turned off, or cannot be written."""
    off = PlanCache(str(tmp_path / "cache"), limit=0)
    off.keep("name", "facts", PLAN)
    assert off.find("name", "facts") is None
    (tmp_path / "file").touch()
    for directory in (None, str(tmp_path / "file/below")):
        cache = PlanCache(directory)
        cache.keep("name", "facts", PLAN)
        assert cache.find("name", "facts") is None


@pytest.mark.parametrize(
    ("environment", "directory", "limit"),
    [
        ({"VESTIGE_CACHE_DIR": "/a"}, "/a/plans-1", plan_cache.LARGEST),
        ({"XDG_CACHE_HOME": "/b"}, "/b/vestige/plans-1", plan_cache.LARGEST),
        (
            {"VESTIGE_CACHE_DIR": "/a", "VESTIGE_CACHE_SIZE": "1M"},
            "/a/plans-1",
            1 << 20,
        ),
        ({"VESTIGE_CACHE_DIR": "/a", "VESTIGE_CACHE_SIZE": "0"}, None, 0),
        (
            {"VESTIGE_CACHE_DIR": "/a", "VESTIGE_CACHE_SIZE": "9G"},
            "/a/plans-1",
            64 << 20,
        ),
    ],
)
def test_the_environment_says_where_it_is(environment, directory, limit):
    """As it does for the symbol cache, but with a bound of its own."""
    cache = PlanCache.from_environment(environment)
    assert (cache._directory, cache._limit) == (directory, limit)


needs_compiler = pytest.mark.skipif(
    platform.machine() != "x86_64" or shutil.which("gcc") is None,
    reason="needs x86-64 and gcc",
)


@needs_compiler
def test_an_object_is_planned_once(cache, tmp_path, monkeypatch):
    """Until it is another one: also with the same build ID, as after ``strip``."""
    program = tmp_path / "entries"
    run_tool(["gcc", "-pthread", "-o", program, PROGRAMS / "entries.c"])
    first = plans.plan_of(str(program), cache, only_sites=False)
    assert isinstance(first, ObjectPlan)

    def planned(_made):
        raise AssertionError("it was planned again")

    with monkeypatch.context() as patch:
        patch.setattr(plans, "plan_from", planned)
        assert plans.plan_of(str(program), cache, only_sites=False) == first
        with pytest.raises(AssertionError, match="again"):
            plans.plan_of(str(program), cache, only_sites=True)
        os.utime(program, (1, 1))
        with pytest.raises(AssertionError, match="again"):
            plans.plan_of(str(program), cache, only_sites=False)
        monkeypatch.setattr(plans, "_core_identity", lambda: "another core")
        with pytest.raises(AssertionError, match="again"):
            plans.plan_of(str(program), cache, only_sites=False)
    run_tool(["strip", program])
    other = plans.plan_of(str(program), cache, only_sites=False)
    assert isinstance(other, ObjectPlan)
    assert b"fibonacci" in first.rows
    assert b"fibonacci" not in other.rows


@needs_compiler
def test_functions_are_chosen_from_a_plan(cache, tmp_path):
    """A smaller plan with their entries alone, and the numbers of it."""
    program = tmp_path / "entries"
    run_tool(["gcc", "-pthread", "-o", program, PROGRAMS / "entries.c"])
    whole = plans.plan_of(str(program), cache, only_sites=False)
    assert isinstance(whole, ObjectPlan)
    assert chosen(whole, ()) == (whole.functions, whole.left, whole.plan)
    assert chosen(whole, ("*",)) == (whole.functions, whole.left, whole.plan)
    some = chosen(whole, ("f*", "both"))
    assert some.functions == 3
    assert 88 < len(some.plan) < len(whole.plan)
    assert int.from_bytes(some.plan[8:16], "little") == len(some.plan)
    assert int.from_bytes(some.plan[16:20], "little") == 3
    none = chosen(whole, ("nothing_of_it",))
    assert none.functions == 0
    assert len(none.plan) == 88


def test_the_core_is_identified():
    """A planner that was built anew plans anew."""
    size, changed = map(int, plans._core_identity().split())
    assert size > 0
    assert 0 < changed < time.time_ns()
