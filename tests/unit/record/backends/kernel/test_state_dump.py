"""The state of processes and of the machine, as readers see it."""

from __future__ import annotations

import ipaddress
import os
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

import vestige
from support.kernel_fixtures import write_trace
from vestige.record.backends.kernel import state_dump
from vestige.record.backends.kernel.namespace_dump import Namespaces
from vestige.record.backends.kernel.state_dump import CLASSES, StateDump

IN_ANOTHER = ("unshare", "--fork", "--pid", "--user", "--map-root-user", "--uts")
WAITS = "import sys; print('ready', flush=True); sys.stdin.readline()"
SPACES = ("cgroup", "ipc", "mnt", "net", "uts", "time")


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    """The state with a file, a thread and a child in namespaces of its own."""
    directory = tmp_path_factory.mktemp("state")
    done = threading.Event()
    thread = threading.Thread(target=done.wait, name="waits")
    with ExitStack() as stack:
        opened = os.open(directory / "file", os.O_RDWR | os.O_CREAT | os.O_APPEND)
        stack.callback(os.close, opened)
        path_only = os.open(directory, os.O_PATH)
        stack.callback(os.close, path_only)
        thread.start()
        stack.callback(done.set)
        child = stack.enter_context(
            subprocess.Popen(
                [*IN_ANOTHER, sys.executable, "-c", WAITS],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        )
        has_spaces = child.stdout.readline() == "ready\n"
        dump = StateDump(time.monotonic_ns, 0)
        dump.read()
    write_trace(
        directory / "kernel", [], [], own=dump.records, own_classes=dict(CLASSES)
    )
    found = {}
    for event in vestige.open(directory / "kernel"):
        name = event.name.removeprefix("lttng_statedump_")
        found.setdefault(name, []).append(dict(event.payload))
    names = [event.name for event in vestige.open(directory / "kernel")]
    return {
        "found": found,
        "names": names,
        "thread": thread.native_id,
        "file": opened,
        "path": path_only,
        "directory": directory,
        "child": child.pid if has_spaces else None,
        "groups": dump.groups,
    }


def of(state, name, **wanted):
    """Return the events of a name whose fields have some values."""
    return [
        one
        for one in state["found"].get(name, ())
        if all(one[key] == value for key, value in wanted.items())
    ]


def test_it_begins_and_ends(state):
    """Around all the rest."""
    assert state["names"][0] == "lttng_statedump_start"
    assert state["names"][-1] == "lttng_statedump_end"
    assert state["names"].count("lttng_statedump_end") == 1


def test_threads_have_their_process(state):
    """This process waits for nothing while it reads."""
    own, other = (
        of(state, "process_state", tid=thread)[0]
        for thread in (os.getpid(), state["thread"])
    )

    assert own["pid"] == other["pid"] == os.getpid()
    assert own["ppid"] == os.getppid()
    assert own["file_table_address"] == other["file_table_address"]
    assert (own["type"], own["mode"], own["submode"]) == (0, 5, 0)
    # It has a CPU; the other one waits.
    assert (own["status"], other["status"]) == (2, 5)
    assert state["groups"][state["thread"]] == os.getpid()


def test_files_have_flags_and_modes(state):
    """Reading is 1, writing 2; one that is a path only has a mode of its own."""
    [opened] = of(state, "file_descriptor", pid=os.getpid(), fd=state["file"])
    [path] = of(state, "file_descriptor", pid=os.getpid(), fd=state["path"])

    assert opened["filename"] == str(state["directory"] / "file")
    assert opened["flags"] & (os.O_RDWR | os.O_APPEND) == os.O_RDWR | os.O_APPEND
    assert opened["flags"] & os.O_CLOEXEC
    assert opened["fmode"] == 3
    assert path["fmode"] == 0x4000
    assert opened["file_table_address"] == os.getpid()


def test_maps_have_places_and_rights(state):
    """The code of this very program, with its file's number."""
    library = Path("/proc/self/exe").stat()
    maps = of(state, "vm_map", pid=os.getpid(), inode=library.st_ino)

    assert maps
    assert all(one["start"] < one["end"] for one in maps)
    assert any(one["flags"] & 7 == 5 for one in maps)
    assert {one["flags"] & ~15 for one in maps} == {0}


@pytest.mark.parametrize("kind", SPACES)
def test_threads_have_namespaces(state, kind):
    """By the numbers of their files."""
    [own] = of(state, f"process_{kind}_ns", tid=os.getpid())

    assert own["ns_inum"] == Path(f"/proc/self/ns/{kind}").stat().st_ino


def test_ids_are_those_of_each_namespace(state):
    """From the inner one outwards; a parent outside has none in there."""
    if state["child"] is None:
        pytest.skip("no namespaces can be made here")
    [inner] = of(state, "process_state", ppid=state["child"])
    spaces = of(state, "process_pid_ns", tid=inner["tid"])
    facts = [
        (one["vtid"], one["vpid"], one["vppid"], one["ns_level"]) for one in spaces
    ]

    assert facts == [
        (1, 1, 0, 1),
        (inner["tid"], inner["tid"], state["child"], 0),
    ]
    assert spaces[0]["ns_inum"] != spaces[1]["ns_inum"]
    assert spaces[1]["ns_inum"] == Path("/proc/self/ns/pid").stat().st_ino


def test_users_are_those_of_each_namespace(state):
    """Who is root within is still the same one outside."""
    if state["child"] is None:
        pytest.skip("no namespaces can be made here")
    [inner] = of(state, "process_state", ppid=state["child"])
    users = of(state, "process_user_ns", tid=inner["tid"])

    assert [(one["vuid"], one["ns_level"]) for one in users] == [
        (0, 1),
        (os.getuid(), 0),
    ]
    [own] = of(state, "process_user_ns", tid=os.getpid())
    assert (own["vuid"], own["vgid"]) == (os.getuid(), os.getgid())


def test_the_machine_is_told(state):
    """As its other files tell it."""
    loopback = [
        ipaddress.ip_address(one["address_ipv4"])
        for one in state["found"].get("network_interface", ())
        if one["name"] == "lo"
    ]
    lines = Path("/proc/partitions").read_text().splitlines()[2:]
    cpus = {one["cpu_id"] for one in state["found"].get("cpu_topology", ())}
    numbers = {one["irq"] for one in state["found"].get("interrupt", ())}
    told = Path("/proc/interrupts").read_text().splitlines()

    # 0 is that of an interface which is down.
    assert all(one.is_loopback or int(one) == 0 for one in loopback)
    assert [one["diskname"] for one in state["found"].get("block_device", ())] == [
        line.split()[3] for line in lines
    ]
    if cpus:
        assert cpus == set(range(os.cpu_count()))
    assert numbers <= {
        int(number)
        for number in (line.split(":")[0].strip() for line in told)
        if number.isdigit()
    }


def test_what_has_ended_is_left_out(monkeypatch):
    """Nothing is guessed of a process that goes while it is read."""
    monkeypatch.setattr(state_dump.os, "listdir", _listed)
    dump = StateDump(time.monotonic_ns, 0)
    dump.read()

    names = list(CLASSES)
    assert "lttng_statedump_process_state" not in {
        names[number] for _, number, _ in dump.records
    }


def _listed(path):
    """Return a process that is not there."""
    gone = str((1 << 22) + 1)
    return [gone] if path in {"/proc", f"/proc/{gone}/task"} else []


def test_a_thread_that_has_ended_has_no_namespaces():
    """It is an error that the caller knows."""
    with pytest.raises(OSError, match="No such file"):
        list(Namespaces().records("/proc/4194305", 4194305, 0))
