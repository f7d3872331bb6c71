"""Objects that come and go while a program is recorded: each address has its place."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import vestige
from support.plugins import build_plugins, follow
from support.recorded import counts, run_recorded
from vestige.record.backends.in_process.tracer import can_audit

pytestmark = [
    pytest.mark.skipif(shutil.which("gcc") is None, reason="not installed: gcc"),
    pytest.mark.skipif(not can_audit(), reason="needs glibc 2.35"),
]


@pytest.fixture(scope="module")
def plugins(tmp_path_factory):
    """A program and the plugins that it loads."""
    return build_plugins(tmp_path_factory.mktemp("plugins"))


def recorded(trace, plugins, *words, options=()):
    """Record the program; it must do as it does when it is not recorded."""
    command = [plugins.program, *words]
    plain = subprocess.run(
        list(map(os.fspath, command)),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    done = run_recorded(trace, command, "-q", *options)
    assert (done.returncode, done.stdout, done.stderr) == (
        plain.returncode,
        plain.stdout,
        plain.stderr,
    )
    return follow(trace)


def life(name):
    """Return what happens from the load of a plugin to its unload."""
    return [
        f"+{name}.so",
        f"{name}_begin",
        f"{name}_step",
        "plugin_run",
        f"{name}_run",
        f"{name}_step",
        f"{name}_end",
        f"{name}_step",
        f"-{name}.so",
    ]


def without_host(log):
    """Leave out the functions of the program itself."""
    own = {"main", "use", "run", "checked", "counted", "repeat", "load_other"}
    return [entry for entry in log if entry not in own]


def test_a_plugin_is_there_before_its_constructors_and_until_after_its_destructors(
    tmp_path, plugins
):
    """Each time it is loaded, also where another one was."""
    found = recorded(
        tmp_path / "trace", plugins, "reload", "3", plugins.alpha, plugins.bravo
    )

    assert without_host(found.log) == (life("alpha") + life("bravo")) * 3
    assert found.left == []
    assert found.bases["alpha.so"] & found.bases["bravo.so"]
    assert ("alpha_step", "plugin.c") in found.places


def test_a_plugin_with_two_users_stays_until_both_are_gone(tmp_path, plugins):
    """The first dlclose() unmaps nothing."""
    found = recorded(tmp_path / "trace", plugins, "counted", plugins.alpha)

    assert without_host(found.log) == life("alpha")


def test_the_caller_of_dlopen_is_still_the_caller(tmp_path, plugins):
    """Its RUNPATH is searched, and that of what is found, for the dependencies."""
    found = recorded(tmp_path / "trace", plugins, "caller", "libsecret.so")
    log = [entry for entry in found.log if entry[0] in "+-"]

    assert log == ["+libsecret.so", "+libdepth.so"]
    assert found.left == ["libdepth.so", "libsecret.so"]
    assert found.log.index("+libdepth.so") < found.log.index("depth_begin")
    assert {"libcaller.so", "libc.so.6", "loading"} <= set(found.dumped)


def test_origin_is_that_of_the_caller(tmp_path, plugins):
    """Where the name of the plugin starts with it."""
    found = recorded(
        tmp_path / "trace", plugins, "caller", "$ORIGIN/hidden/libsecret.so"
    )

    assert "secret_run" in found.log


def test_namespaces_have_objects_of_their_own(tmp_path, plugins):
    """With a second C library, and all of them gone after dlclose()."""
    found = recorded(tmp_path / "trace", plugins, "space", plugins.alpha)
    log = [entry for entry in found.log if entry[0] in "+-"]

    assert log == ["+alpha.so", "+libc.so.6", "-alpha.so", "-libc.so.6"]


def test_a_namespace_is_gone_when_it_is_closed(tmp_path, plugins):
    """Though the dynamic linker says no word more of it."""
    found = recorded(tmp_path / "trace", plugins, "spaces", plugins.alpha)
    load, unload = ["+alpha.so", "+libc.so.6"], ["-alpha.so", "-libc.so.6"]
    log = [entry for entry in found.log if entry[0] in "+-" or entry == "at_mark"]

    assert log == [*load, *load, "at_mark", *unload, "at_mark", *unload, "at_mark"]


def test_what_cannot_be_loaded_is_gone(tmp_path, plugins):
    """Neither a missing symbol nor a missing library leaves anything behind."""
    found = recorded(
        tmp_path / "trace", plugins, "failing", plugins.broken, plugins.orphan
    )

    assert found.left == []
    assert found.log.count("+broken.so") == found.log.count("-broken.so")


def test_a_constructor_may_load_another_plugin(tmp_path, plugins):
    """And unload it before the first is complete."""
    found = recorded(
        tmp_path / "trace", plugins, "nested", plugins.alpha, plugins.bravo
    )
    log = [entry for entry in found.log if entry[0] in "+-"]

    assert log == ["+alpha.so", "+bravo.so", "-bravo.so", "-alpha.so"]


def test_threads_may_load_at_once(tmp_path, plugins):
    """Each unload belongs to one load."""
    paths = [plugins.alpha, plugins.bravo, plugins.charlie]
    found = recorded(tmp_path / "trace", plugins, "threads", "40", *paths)

    for path in paths:
        assert found.log.count(f"+{path.name}") == 40
        assert found.log.count(f"-{path.name}") == 40
    assert found.left == []


def test_a_child_is_told_what_is_loaded_while_a_thread_loads(tmp_path, plugins):
    """The lock of the dynamic linker is held by a thread that the child has not got."""
    found = recorded(tmp_path / "trace", plugins, "fork", plugins.alpha)

    assert "in_child" in found.log
    # In the child's state dump; the parent's had it not.
    assert found.dumped.count("alpha.so") == 1
    assert found.dumped.count("loading") == 2


def test_a_child_that_loads_first_tells_first_what_it_has(tmp_path, plugins):
    """The load comes behind its state dump."""
    found = recorded(tmp_path / "trace", plugins, "forked", plugins.alpha)

    assert found.log.count("+alpha.so") == 1
    assert "alpha.so" not in found.dumped
    assert without_host(found.log) == life("alpha")


def test_a_signal_handler_may_load(tmp_path, plugins):
    """On a stack of 16 KiB, as some that print a backtrace do."""
    found = recorded(tmp_path / "trace", plugins, "handler", plugins.alpha)

    assert [entry for entry in found.log if entry[0] in "+-"] == [
        "+alpha.so",
        "-alpha.so",
    ]


def test_what_the_c_library_loads_itself_is_told(tmp_path, plugins):
    """Such as a converter of iconv()."""
    found = recorded(tmp_path / "trace", plugins, "convert", "ISO-8859-15")
    if "+ISO8859-15.so" not in found.log:
        assert not list(Path("/usr/lib").rglob("ISO8859-15.so"))
        pytest.skip("the C library has no converters")


def test_the_end_of_the_process_unmaps_nothing(tmp_path, plugins):
    """The destructors of what was not closed run in objects that are there."""
    found = recorded(tmp_path / "trace", plugins, "kept", plugins.alpha)

    assert found.left == ["alpha.so"]
    assert "alpha_end" in found.log


def test_a_handler_of_exit_may_load_and_unload(tmp_path, plugins):
    """The process goes on until its last destructor."""
    found = recorded(tmp_path / "trace", plugins, "late", plugins.alpha)

    assert without_host(found.log) == ["use_late", *life("alpha")]


def test_an_object_that_is_never_unmapped_is_not_told_to_be(tmp_path, plugins):
    """RTLD_NODELETE makes dlclose() do nothing."""
    found = recorded(tmp_path / "trace", plugins, "pinned", plugins.alpha)

    assert [entry for entry in found.log if entry[0] in "+-"] == ["+alpha.so"]
    assert found.left == ["alpha.so"]


def test_one_more_file_is_enough(tmp_path, plugins):
    """As it is for the dynamic linker."""
    found = recorded(tmp_path / "trace", plugins, "limited", plugins.alpha)

    assert life("alpha") == without_host(found.log)[1:]


def test_many_objects_at_once(tmp_path, plugins):
    """More than a block of the table, with short paths and long ones."""
    far = tmp_path / ("x" * 200) / ("y" * 200) / ("z" * 200)
    far.mkdir(parents=True)
    copies = [
        Path(shutil.copy(plugins.alpha, (far if index % 9 == 0 else tmp_path) / name))
        for index, name in enumerate(f"copy{index}.so" for index in range(70))
    ]
    found = recorded(tmp_path / "trace", plugins, "kept", *copies)

    assert found.left == sorted(copy.name for copy in copies)
    assert found.log.count("alpha_run") == len(copies)


def test_another_auditing_library_is_kept(tmp_path, plugins, monkeypatch):
    """Ours comes before it."""
    source = tmp_path / "other.c"
    source.write_text(
        "#include <unistd.h>\n"
        'unsigned la_version(unsigned v) { write(1, "other\\n", 6); return v; }\n'
    )
    other = tmp_path / "other.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", other, source], check=True)
    monkeypatch.setenv("LD_AUDIT", str(other))
    done = run_recorded(
        tmp_path / "trace", [plugins.program, "kept", plugins.alpha], "-q"
    )

    # The recorder has it, too.
    assert done.stdout == "other\n" * 2 + "done\n"
    assert "+alpha.so" in follow(tmp_path / "trace").log


def test_a_program_may_be_started_by_the_dynamic_linker(tmp_path, plugins):
    """The file of the process is that of the linker then."""
    [loader] = {
        line.split()[0]
        for line in subprocess.run(
            ["ldd", plugins.program], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        if "/ld-" in line
    }
    run_recorded(
        tmp_path / "trace", [loader, plugins.program, "kept", plugins.alpha], "-q"
    )
    found = follow(tmp_path / "trace")

    assert found.dumped[0] == "loading"
    assert "main" in found.log


@pytest.mark.parametrize("prefix", ["LTTNG_UST", "VESTIGE"])
def test_the_state_dump_may_be_left_out(tmp_path, plugins, monkeypatch, prefix):
    """Parts of it, by LTTng's variables and by ours."""
    monkeypatch.setenv(f"{prefix}_WITHOUT_BADDR_STATEDUMP", "1")
    monkeypatch.setenv(f"{prefix}_WITHOUT_PROCNAME_STATEDUMP", "1")
    run_recorded(tmp_path / "trace", [plugins.program, "kept", plugins.alpha], "-q")
    found = counts(tmp_path / "trace")

    assert (found["start"], found["end"]) == (1, 1)
    assert not {"procname", "bin_info", "build_id", "load"} & set(found)
    assert found["func_entry"] > 3


def test_base_addresses_in_their_first_form(tmp_path, plugins):
    """Those of the start, of a load and of an unload, with size and time of the file."""
    run_recorded(
        tmp_path / "trace",
        [plugins.program, "counted", plugins.alpha],
        "-q",
        "-e",
        "*",
    )
    events = list(vestige.open(tmp_path / "trace", debug_info=False))
    first = {e.payload["sopath"] for e in events if e.name == "ust_baddr:init"}
    [push] = [e.payload for e in events if e.name == "ust_baddr:push"]
    [pop] = [e.payload for e in events if e.name == "ust_baddr:pop"]
    dumped = {
        e.payload["path"] for e in events if e.name == "lttng_ust_statedump:bin_info"
    }
    status = plugins.alpha.stat()

    # The vDSO has no file.
    assert {path for path in dumped - first if path[0] != "["} == set()
    assert str(plugins.program) in first
    assert push["sopath"] == str(plugins.alpha)
    assert (push["size"], push["mtime"]) == (status.st_size, int(status.st_mtime))
    assert push["baddr"] == pop["baddr"]
    assert without_host(follow(tmp_path / "trace").log) == life("alpha")
