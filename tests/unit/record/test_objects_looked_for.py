"""Objects that come and go where the dynamic linker does not tell of them."""

from __future__ import annotations

import shutil

import pytest

from support.plugins import build_plugins, follow
from vestige.record import record

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)


@pytest.fixture(scope="module")
def plugins(tmp_path_factory):
    """A program and the plugins that it loads."""
    return build_plugins(tmp_path_factory.mktemp("plugins"))


@pytest.fixture(autouse=True)
def no_audit(monkeypatch):
    """As with a C library before glibc 2.35."""
    monkeypatch.setattr(
        "vestige.record.backends.in_process.tracer.can_audit", lambda: False
    )


def recorded(trace, *words):
    """Record a program, which must end well."""
    command = list(map(str, words))
    assert record(command, trace).status == 0
    return follow(trace)


def loads(found):
    """Return the loads and the unloads alone."""
    return [entry for entry in found.log if entry[0] in "+-"]


def test_a_plugin_is_found_at_the_first_call_into_it(tmp_path, plugins):
    """That of its constructor; and dlclose() shows that it is gone."""
    found = recorded(
        tmp_path / "trace",
        plugins.program,
        "reload",
        "3",
        plugins.alpha,
        plugins.bravo,
    )
    both = ["+alpha.so", "-alpha.so", "+bravo.so", "-bravo.so"]

    assert loads(found) == both * 3
    assert found.log[found.log.index("+alpha.so") + 1] == "alpha_begin"
    assert found.log[found.log.index("-alpha.so") - 1] == "alpha_step"


def test_the_caller_of_dlopen_is_still_the_caller(tmp_path, plugins):
    """And dependencies are found with what needs them."""
    found = recorded(tmp_path / "trace", plugins.program, "caller", "libsecret.so")

    assert sorted(loads(found)) == ["+libdepth.so", "+libsecret.so"]


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("counted", ["+alpha.so", "-alpha.so"]),
        ("late", ["+alpha.so", "-alpha.so"]),
        ("handler", ["+alpha.so", "-alpha.so"]),
        ("pinned", ["+alpha.so"]),
        ("forked", ["+alpha.so", "-alpha.so"]),
        ("fork", ["+alpha.so", "-alpha.so"]),
    ],
)
def test_what_is_loaded_is_told_once(tmp_path, plugins, how, expected):
    """However it comes and goes."""
    found = recorded(tmp_path / "trace", plugins.program, how, plugins.alpha)

    assert loads(found) == expected


def test_threads_may_load_the_same(tmp_path, plugins):
    """Nothing is loaded twice without an unload between."""
    found = recorded(
        tmp_path / "trace", plugins.program, "threads", "20", plugins.alpha
    )

    assert loads(found) == ["+alpha.so", "-alpha.so"] * 20
