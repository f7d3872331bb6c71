"""Arguments of system calls are those that strace has of the same calls."""

from __future__ import annotations

import ast
import errno
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import vestige
from support.kernel_calls import texts_told
from support.kernel_tracer import why_not
from support.ports import has_ipv6
from support.recorded import run_recorded

REASON = why_not()
pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(REASON is not None, reason=f"no kernel tracer: {REASON}"),
]
SOCKETS = ("bind", "connect", "sendto", "accept4", "recvfrom", "getsockname")
LISTS = ("poll", "epoll_wait", "epoll_ctl", "pselect6")
PAIRS = ("pipe2", "socketpair")
TEXTS = ("openat", "mkdir", "unlink", "rename", "symlink", "chdir", "execve")
CALLS = (*SOCKETS, *LISTS, *PAIRS, *TEXTS)
WORK = """
import os, select, socket
folder = os.environ["FOLDER"]
four = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(four.getsockname())
served, _ = four.accept()
six = socket.create_server(("::1", 0), family=socket.AF_INET6)
client_6 = socket.create_connection(six.getsockname()[:2])
served_6, _ = six.accept()
plain = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
plain.bind(("127.0.0.1", 0))
plain.sendto(b"text", plain.getsockname())
plain.recvfrom(10)
client.send(b"x")
many = select.poll()
many.register(served, select.POLLIN | select.POLLPRI)
many.register(client, select.POLLOUT)
many.poll(1000)
select.select([served], [client], [six], 1)
waiting = select.epoll()
waiting.register(served, select.EPOLLIN | select.EPOLLET)
waiting.poll(1)
waiting.modify(served, select.EPOLLOUT)
waiting.poll(1)
os.pipe()
kept = socket.socketpair()
os.mkdir(folder + "/one")
os.chdir(folder + "/one")
open("text of \\u00e9", "w").close()
os.rename("text of \\u00e9", "other")
os.symlink("other", "link")
os.unlink("link")
os.symlink("/bin/true", "LAST")
os.execv("LAST", ["true"])
"""
LAST = "the last program of this test"
PORT = re.compile(r'sin6?_port="((?:\\x\w\w)+)"')
ADDRESS = re.compile(r'sin6?_addr="((?:\\x\w\w)+)"')
POLLED = re.compile(r"fd=(\d+), r?events=(\w+)")
WAITED = re.compile(r"events=(\w+), data={u32=(\d+)")
LINE = re.compile(r"(\w+)\((.*?)\)\s+= (-?\d+)(.*)")
Call = tuple[str, int, Any]
"""Its name, what it returned, and what is compared."""


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Call], list[Call]]:
    """Return what strace has of a process, and what a recording of the kernel has."""
    if shutil.which("strace") is None:
        pytest.skip("not installed: strace")
    if not texts_told():
        pytest.skip("this kernel takes no programs that tell texts")
    if not has_ipv6():
        pytest.skip("this machine has no address ::1")
    folder = tmp_path_factory.mktemp("calls")
    log, output = folder / "log", folder / "trace"
    watch = ["strace", "-X", "raw", "-s", "4096", "-o", str(log)]
    watch += ["-e", f"trace={','.join(CALLS)}", "-E", f"FOLDER={folder}"]
    work = [sys.executable, "-I", "-S", "-c", WORK.replace("LAST", LAST)]
    rules = ",".join(f"syscalls:{one}" for one in CALLS)
    options = ("--kernel", rules, "--kernel-of=program")
    done = run_recorded(output, [*watch, *work], *options)
    assert done.returncode == 0, done.stderr
    assert log.read_text().endswith("+++ exited with 0 +++\n")
    return [*seen(log.read_text().splitlines())], [*recorded(output / "kernel")]


def seen(lines: Iterable[str]) -> Iterator[Call]:
    """Yield the calls of a log of strace."""
    for line in lines:
        if (parts := LINE.fullmatch(line)) is not None:
            name, given, result, found = parts.groups()
            error = re.match(r" (E\w+)", found)
            number = -getattr(errno, error[1]) if error else int(result)
            yield name, number, seen_arguments(name, given, found)


def seen_arguments(name: str, given: str, found: str) -> Any:
    """Return what strace shows of one call."""
    if name in TEXTS:
        texts = re.findall(r'"(?:[^"\\]|\\.)*"', given.partition("[")[0])
        return [ast.literal_eval(f"b{one}").decode() for one in texts]
    if name in SOCKETS:
        family = re.search(r"sa_family=(\w+)", given)
        port, address = (
            b"".join(bytes.fromhex(one[1].replace("\\x", "")) for one in found)
            for found in (PORT.finditer(given), ADDRESS.finditer(given))
        )
        return [int(family[1], 0) if family else 0, int.from_bytes(port), address]
    if name == "poll":
        return [
            [(int(fd), int(events, 0)) for fd, events in POLLED.findall(text)]
            for text in (given, found)
        ]
    if name in {"epoll_wait", "epoll_ctl"}:
        return [(int(fd), int(events, 0)) for events, fd in WAITED.findall(given)]
    sets = re.findall(r"\[([\d ,]+)\]", given)
    numbers = [{int(fd) for fd in re.findall(r"\d+", one)} for one in sets]
    if name == "pselect6":
        left = dict(re.findall(r"(in|out|except) \[([\d ,]+)\]", found))
        kept = [left.get(one, "") for one in ("in", "out", "except")]
        numbers += [{int(fd) for fd in re.findall(r"\d+", one)} for one in kept]
    return numbers


def recorded(directory: Path) -> Iterator[Call]:
    """Yield the calls that a recording has of the thread that runs the last program."""
    events = [*vestige.open(directory, debug_info=False)]
    [thread] = {
        one.context["tid"]
        for one in events
        if one.name == "syscall_entry_execve" and one.payload["filename"] == LAST
    }
    own = [one for one in events if one.context.get("tid") == thread]
    calls = [one for one in own if one.name.startswith("syscall_")]
    begins = [one.name == "syscall_entry_execve" for one in calls]
    # Before it is run, its process is strace's.
    calls = calls[begins.index(True) :]
    for begun, ended in zip(calls[::2], calls[1::2], strict=True):
        name = begun.name.removeprefix("syscall_entry_")
        assert ended.name == f"syscall_exit_{name}"
        yield (
            name,
            ended.payload["ret"],
            recorded_arguments(name, begun.payload, ended.payload),
        )


def recorded_arguments(name: str, begun: Any, ended: Any) -> Any:
    """Return what is recorded of one call."""
    if name in TEXTS:
        return [one for one in begun.values() if isinstance(one, str)]
    if name in SOCKETS:
        [told] = [one for one in (begun, ended) if "family" in one]
        port = told["dport"] if "dport" in told else told["sport"]
        words = b"".join(one.to_bytes(2) for one in told["v6addr"])
        return [told["family"], port, bytes(told["v4addr"]) + words]
    if name == "poll":
        return [
            [(one["fd"], one["raw_events"]) for one in told["fds"]]
            for told in (begun, ended)
        ]
    if name in {"epoll_wait", "epoll_ctl"}:
        found = [begun["event"]] if name == "epoll_ctl" else ended["fds"]
        return [(one["data_union"]["fd"], one["raw_events"]) for one in found]
    if name == "pselect6":
        sets = ("readfds", "writefds", "exceptfds")
        return [members(told[one]) for told in (begun, ended) for one in sets]
    return [set(ended["fildes" if name == "pipe2" else "socket"])]


def members(bits: Iterable[int]) -> set[int]:
    """Return the numbers that a set of descriptors has."""
    return {
        8 * place + bit
        for place, byte in enumerate(bits)
        for bit in range(8)
        if byte >> bit & 1
    }


@pytest.mark.parametrize("name", CALLS)
def test_each_call_has_what_strace_shows(
    both: tuple[list[Call], list[Call]], name: str
) -> None:
    """In the same order: what it was given, what it gave, and what it returned."""
    theirs, ours = ([one for one in calls if one[0] == name] for calls in both)

    assert ours == theirs
    assert len(theirs) > 0


def test_calls_are_in_the_same_order(both: tuple[list[Call], list[Call]]) -> None:
    """From the start of the program to its end."""
    theirs, ours = ([one[0] for one in calls] for calls in both)
    assert ours == theirs
