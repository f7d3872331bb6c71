"""Namespaces that threads come into while the kernel is recorded."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import vestige
from support.kernel_channels import record_kernel
from support.kernel_tracer import why_not
from vestige.record.backends.kernel.rules import KernelRule

REASON = why_not()
pytestmark = [
    pytest.mark.skipif(REASON is not None, reason=f"no kernel tracer: {REASON}"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root makes namespaces"),
]
PROGRAM = """
import ctypes, os, sys
library = ctypes.CDLL(None, use_errno=True)

def spaces():
    names = "uts", "ipc", "pid"
    print(*(os.stat(f"/proc/self/ns/{one}").st_ino for one in names), flush=True)
    sys.stdin.readline()

spaces()
before = os.open("/proc/self/ns/uts", os.O_RDONLY)
assert library.unshare(0x4000000) == 0
spaces()
assert library.unshare(0x4000000 | 1) == -1
os.getpriority(os.PRIO_PROCESS, 0)
assert library.setns(before, 0) == 0
spaces()
assert library.unshare(0x20000000) == 0
child = os.fork()
if child == 0:
    os.getpriority(os.PRIO_PROCESS, 0)
    os._exit(0)
os.waitpid(child, 0)
os.getpriority(os.PRIO_PROCESS, 0)
print(child)
"""


def test_namespaces_of_threads_are_known_from_the_call_that_changes_them(tmp_path):
    """A call that fails changes none; unshare(2) of processes is for children alone."""
    told = []

    def work(process):
        python = [sys.executable, "-I", "-c", PROGRAM]
        pipe = subprocess.PIPE
        with subprocess.Popen(python, stdin=pipe, stdout=pipe, text=True) as program:
            for _ in range(3):
                told.append(tuple(map(int, program.stdout.readline().split())))
                # It has looked once it answers.
                process.ask("counts", is_read=False)
                program.stdin.write("\n")
                program.stdin.flush()
            told.append(int(program.stdout.readline()))
        assert program.returncode == 0
        told.append(program.pid)

    names = ["unshare", "setns", "getpriority"]
    rules = [KernelRule("syscall", one, "entry+exit") for one in names]
    record_kernel(tmp_path / "t", rules, work, contexts=["uts_ns", "ipc_ns", "pid_ns"])

    first, second, third, child, process = told
    assert second != first
    assert third == first
    calls = [
        (one.name, one.context["tid"], (one.context["uts_ns"], one.context["ipc_ns"]))
        for one in vestige.open(tmp_path / "t")
        if one.name.startswith("syscall_")
    ]
    own = [(name, spaces) for name, thread, spaces in calls if thread == process]
    assert own == [
        ("syscall_entry_unshare", first[:2]),
        ("syscall_exit_unshare", second[:2]),
        ("syscall_entry_unshare", second[:2]),
        ("syscall_exit_unshare", second[:2]),
        ("syscall_entry_getpriority", second[:2]),
        ("syscall_exit_getpriority", second[:2]),
        ("syscall_entry_setns", second[:2]),
        ("syscall_exit_setns", first[:2]),
        ("syscall_entry_unshare", first[:2]),
        ("syscall_exit_unshare", first[:2]),
        ("syscall_entry_getpriority", first[:2]),
        ("syscall_exit_getpriority", first[:2]),
    ]
    # Others on this machine may call it, too.
    of_processes = {
        (one.context["tid"], one.context["pid_ns"])
        for one in vestige.open(tmp_path / "t")
        if one.name == "syscall_entry_getpriority"
        and one.context["tid"] in (process, child)
    }
    # The child is in a new one, and has ended too early.
    assert len(of_processes) == 2
    assert (process, first[2]) in of_processes
    assert (child, first[2]) not in of_processes


CHILD = """
import os
os.getpriority(os.PRIO_PROCESS, 0)
print(os.getpid(), os.stat("/proc/self/ns/uts").st_ino, flush=True)
input()
"""


def test_a_process_that_is_made_in_new_namespaces_is_known_as_long_as_it_runs(tmp_path):
    """It is looked at once it is there; its ID is that of its own namespace."""
    told = []

    def work(process):
        words = ["unshare", "--uts", "--pid", "--fork", "unshare", "--uts"]
        python = [*words, sys.executable, "-I", "-c", CHILD]
        pipe = subprocess.PIPE
        with subprocess.Popen(python, stdin=pipe, stdout=pipe, text=True) as program:
            told.append(tuple(map(int, program.stdout.readline().split())))
            process.ask("counts", is_read=False)
            program.stdin.write("\n")
            program.stdin.flush()
            program.wait()

    rule = KernelRule("syscall", "getpriority", "entry")
    names = ["uts_ns", "vpid", "vtid"]
    record_kernel(tmp_path / "t", [rule], work, contexts=names)

    contexts = [tuple(one.context[key] for key in names) for one in events(tmp_path)]
    [(process, space)] = told
    assert (space, process, process) in contexts


def events(directory):
    """Return the calls of this test's programs."""
    name = "syscall_entry_getpriority"
    return [one for one in vestige.open(directory / "t") if one.name == name]
