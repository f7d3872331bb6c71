"""Memory to which arguments of system calls lead, as real programs make these calls."""

from __future__ import annotations

import ast
import json
import select
import sys

import pytest

import vestige
from support.kernel_calls import call, read_back, texts_told
from support.kernel_tracer import why_not
from support.ports import has_ipv6
from support.recorded import run_recorded
from vestige.record.backends.kernel.call_fields import call_fields
from vestige.record.backends.kernel.call_memory import call_memory

REASON = why_not()
CALLS = [
    *("connect", "accept", "accept4", "bind", "sendto", "recvfrom", "getsockname"),
    *("poll", "ppoll", "select", "pselect6", "epoll_ctl", "epoll_wait", "epoll_pwait"),
    *("pipe2", "socketpair"),
]
WORK = """
import os, select, socket
four = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(four.getsockname())
served, address = four.accept()
said = {"port": address[1], "fd": served.fileno()}
six = socket.create_server(("::1", 0), family=socket.AF_INET6)
client_6 = socket.create_connection(six.getsockname()[:2])
served_6, address = six.accept()
said["port 6"] = address[1]
plain = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
plain.bind(("127.0.0.1", 0))
plain.sendto(b"text", plain.getsockname())
said["sent"] = plain.recvfrom(10)[1]
client.send(b"x")
many = select.poll()
ends = [os.pipe()[0] for _ in range(PIPES)]
for one in ends:
    many.register(one, select.POLLIN)
many.register(served, select.POLLIN | select.POLLPRI)
many.poll(1000)
select.select([served], [client], [six], 1)
waiting = select.epoll()
waiting.register(served, select.EPOLLIN)
waiting.poll(1)
served.recv(1)
waiting.poll(0)
said["pipe"], said["pair"] = os.pipe(), [one.detach() for one in socket.socketpair()]
print(said)
""".replace("PIPES", "100")


@pytest.fixture
def kernel():
    """A kernel that takes programs."""
    if REASON is not None:
        pytest.skip(f"no kernel tracer: {REASON}")
    if not texts_told():
        pytest.skip("this kernel takes no programs that tell texts")


def recorded(tmp_path, program, *options, calls=CALLS):
    """Record a program in Python; return its events and what it said."""
    output, said = tmp_path / "trace", tmp_path / "said"
    begin = "import os, sys\nprint(os.getpid())"
    text = f"import sys\nsys.stdout = open({str(said)!r}, 'w')\n{begin}\n{program}"
    rules = ",".join(f"syscalls:{one}" for one in calls)
    done = run_recorded(
        output,
        [sys.executable, "-c", text],
        *("--kernel", rules, "--kernel-context", "pid", *options),
    )
    assert done.returncode == 0, done.stderr
    assert "system calls point" not in done.stderr
    process, _, facts = said.read_text().partition("\n")
    events = [
        event
        for event in vestige.open(output / "kernel")
        if event.context["pid"] == int(process)
    ]
    return events, ast.literal_eval(facts or "None")


@pytest.fixture
def made(tmp_path, kernel):  # noqa: ARG001 - without it, nothing is told
    """Return the fields of one program's calls, by their names, and what it said."""
    if not has_ipv6():
        pytest.skip("this machine has no address ::1")
    events, said = recorded(tmp_path, WORK)
    found = {}
    for event in events:
        found.setdefault(event.name.removeprefix("syscall_"), []).append(
            json.loads(json.dumps(dict(event.payload), default=dict))
        )
    return found, said


def first(calls, **fields):
    """Return the first call with some fields."""
    return next(one for one in calls if all(one[key] == fields[key] for key in fields))


def test_calls_have_what_the_program_gave_and_got(made):
    """Addresses, sets, lists and pairs: those that it says."""
    found, said = made
    home, home_6 = [127, 0, 0, 1], [0] * 7 + [1]
    asked = first(found["entry_connect"], family=2)
    taken, taken_6 = found["exit_accept4"]
    sent, got = found["entry_sendto"][0], found["exit_recvfrom"][0]

    assert (asked["v4addr"], asked["v6addr"]) == (home, [])
    assert first(found["entry_connect"], family=10)["v6addr"] == home_6
    assert (taken["family"], taken["sport"]) == (2, said["port"])
    assert (taken["v4addr"], taken["upeer_addrlen"]) == (home, 16)
    assert (taken_6["sport"], taken_6["v6addr"]) == (said["port 6"], home_6)
    assert (sent["dport"], got["sport"]) == (said["sent"][1],) * 2
    assert (found["exit_pipe2"][-1]["fildes"]) == list(said["pipe"])
    assert found["exit_socketpair"][0]["socket"] == said["pair"]


def test_sets_and_lists_are_those_of_the_program(made):
    """What is asked for, and what came of it."""
    found, said = made
    fd = said["fd"]
    asked = first(found["entry_poll"], nfds=101)
    told = first(found["exit_poll"], nfds=101)
    [sets], [sets_told] = found["entry_pselect6"], found["exit_pselect6"]
    added = found["entry_epoll_ctl"][0]["event"]
    events, nothing = found["exit_epoll_wait"]

    assert (asked["fds_length"], asked["overflow"]) == (101, 0)
    assert asked["fds"][-1]["fd"] == fd
    assert asked["fds"][-1]["raw_events"] == select.POLLIN | select.POLLPRI
    assert (asked["fds"][0]["events"]["POLLPRI"], told["ret"]) == (0, 1)
    assert [one["fd"] for one in told["fds"]] == [fd]
    assert told["fds"][0]["events"]["POLLIN"] == 1
    assert sets["readfds"][fd // 8] == sets_told["readfds"][fd // 8] == 1 << fd % 8
    assert [any(one["exceptfds"]) for one in (sets, sets_told)] == [True, False]
    assert (added["data_union"]["fd"], added["events"]["EPOLLIN"]) == (fd, 1)
    assert [one["data_union"]["fd"] for one in events["fds"]] == [fd]
    assert (nothing["ret"], nothing["fds"]) == (0, [])


@pytest.mark.usefixtures("kernel")
def test_what_cannot_be_read_is_empty_and_what_is_long_is_cut_off(tmp_path):
    """As the call has it, which fails, too."""
    work = """
import ctypes
call = ctypes.CDLL(None).syscall
many = (ctypes.c_uint64 * 2000)()
call(7, many, 2000, 0)
call(7, ctypes.c_void_p(4096), 3, 0)
call(23, 9, many, ctypes.c_void_p(4096), None, None)
call(42, 3, ctypes.c_void_p(4096), 16)
call(42, 3, None, 16)
call(22, ctypes.c_void_p(4096))
"""
    calls = ["poll", "select", "connect", "pipe"]
    events, _ = recorded(tmp_path, work, calls=calls)
    found = [(one.name.removeprefix("syscall_"), dict(one.payload)) for one in events]
    begun = {(name, one.get("nfds")): one for name, one in found}

    long, bad = begun["entry_poll", 2000], begun["entry_poll", 3]
    assert (long["fds_length"], long["overflow"]) == (512, 1)
    assert (bad["fds_length"], list(bad["fds"]), bad["overflow"]) == (0, [], 0)
    sets = next(one for name, one in found if name == "entry_select" and one["n"] == 9)
    assert not [*sets["readfds"], *sets["writefds"], *sets["exceptfds"]]
    families = [one["family"] for name, one in found if name == "entry_connect"]
    assert families == [0, 0]
    [pipe] = [one for name, one in found if name == "exit_pipe"]
    assert (pipe["ret"], list(pipe["fildes"])) == (-14, [0, 0])


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize(
    "text",
    [
        "family == 2 && v4addr[0] == 127",
        '(family == 2 && dport > 0) || $ctx.procname == "nobody"',
    ],
)
def test_filters_look_at_it(tmp_path, text):
    """What is left out leaves nothing behind for the call that comes next."""
    work = """
import socket
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname())
for path in ("/nothing", "/nothing else"):
    try:
        socket.socket(socket.AF_UNIX).connect(path)
    except OSError:
        pass
"""
    events, _ = recorded(tmp_path, work, *("--kernel-filter", text), calls=["connect"])
    begun = [one for one in events if one.name == "syscall_entry_connect"]

    assert [one.payload["family"] for one in begun] == [2]


def test_fields_are_empty_where_nobody_reads(tmp_path):
    """They are there, and so are those of the kernel."""
    found = read_back(tmp_path / "begun", call("sys_enter_connect", "int fd"), 3)
    told = read_back(tmp_path / "ended", call("sys_exit_poll", "long ret"), 1)

    assert (found["fd"], found["family"], list(found["v4addr"])) == (3, 0, [])
    assert (told["ret"], told["nfds"], list(told["fds"])) == (1, 0, [])


def test_what_is_read_has_fields():
    """Of each call, where it begins and where it ends."""
    names = {*CALLS, "pipe", "epoll_pwait2", "getpeername", "read"}
    for name in names:
        for is_end, kind in ((False, "enter"), (True, "exit")):
            has_fields = call_fields(f"sys_{kind}_{name}") is not None
            assert has_fields == (call_memory(name, is_end=is_end) is not None)
