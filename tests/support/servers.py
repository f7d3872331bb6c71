"""Servers that are recorded while they serve, and clients that count what they got."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from io import BufferedRWPair
from pathlib import Path

from support.ports import free_ports
from support.waiting import wait_until

__all__ = ["Server", "memcached", "nginx", "redis"]

SECONDS = 60.0
CONNECTIONS = 4
"""A client has several, so that all threads of a server work."""

NGINX_CONFIGURATION = """
daemon {daemon};
user {user};
worker_processes 1;
pid {directory}/pid;
error_log {directory}/error.log;
events {{ worker_connections 64; }}
http {{
    access_log off;
    keepalive_requests 1000000;
    client_body_temp_path {directory}/body;
    proxy_temp_path {directory}/proxy;
    fastcgi_temp_path {directory}/fastcgi;
    uwsgi_temp_path {directory}/uwsgi;
    scgi_temp_path {directory}/scgi;
    server {{
        listen 127.0.0.1:{port};
        location / {{ empty_gif; }}
    }}
}}
"""


@dataclass(frozen=True)
class Server:
    """A server that listens on a port of 127.0.0.1."""

    command: Sequence[str | Path]
    """The program and its arguments; the port is in one of them."""

    port: int
    request: str
    """The function that is called once for each request."""

    client: Callable[[Server, int], int]
    """Sends requests, each after the response to the one before; returns how many."""

    stop: Callable[[Server], None]
    chance: Sequence[str] = ()
    """Patterns of functions whose calls depend on time or on random numbers."""

    directory: Path = Path()
    """Where its files are, and where it must be run."""

    @property
    def program(self) -> Path:
        """Its program."""
        return Path(self.command[0])

    def processes(self) -> list[int]:
        """Return the processes that run its program with its arguments.

        A pid file would have the number that holds within a PID namespace.
        """
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    name = (entry / "exe").readlink().name
                    words = (entry / "cmdline").read_bytes().decode(errors="replace")
                except OSError:
                    continue  # a zombie, or gone
                if name == self.program.name and str(self.port) in words:
                    found.append(int(entry.name))
        return found

    def serve(self, requests: int) -> int:
        """Send requests to it when it listens; then stop it.

        Returns:
            How often its request function must have been called.
        """
        try:
            served = self.client(self, requests)
            self.stop(self)
        finally:
            for left in self.processes():
                os.kill(left, signal.SIGKILL)
        return served


def nginx(
    program: Path,
    directory: Path,
    user: str = "nobody nogroup",
    *,
    is_daemon: bool = False,
) -> Server:
    """Return an nginx with one worker process."""
    [port] = free_ports(1)
    directory.mkdir()
    path = directory / f"nginx-{port}.conf"
    path.write_text(
        NGINX_CONFIGURATION.format(
            daemon="on" if is_daemon else "off",
            user=user,
            directory=directory,
            port=port,
        ),
        encoding="utf-8",
    )
    return Server(
        [program, "-c", path, "-p", directory, "-e", directory / "error.log"],
        port,
        "ngx_http_process_request",
        _get_pages,
        lambda server: _signal(server, signal.SIGQUIT),
        # It makes the texts of dates and of log lines when their time has come.
        ("*time*", "*sprintf*"),
        directory,
    )


def memcached(program: Path, *options: str, user: str = "nobody") -> Server:
    """Return a memcached with two worker threads."""
    [port] = free_ports(1)
    # Its maintainer of lists works as long as it has time, whatever is asked of it.
    usual = ["-o", "no_lru_maintainer,no_lru_crawler", "-t", "2", "-U", "0"]
    return Server(
        [program, "-u", user, "-l", "127.0.0.1", "-p", str(port), *usual, *options],
        port,
        "process_command_ascii",
        _set_and_get_values,
        lambda server: _signal(server, signal.SIGTERM),
    )


def redis(program: Path, directory: Path) -> Server:
    """Return a redis that saves its data in a child process before it ends.

    It parses its arguments by the character, so none of them is of varying length.
    """
    [port] = free_ports(1)
    directory.mkdir()
    words = {
        "port": port,
        "bind": "127.0.0.1",
        "save": "",
        "hz": 1,
        "dynamic-hz": "no",
        "set-proc-title": "no",
    }
    options = [
        text for name, word in words.items() for text in (f"--{name}", str(word))
    ]
    return Server(
        [program, *options],
        port,
        "processCommand",
        _set_and_save_values,
        lambda server: wait_until(
            lambda: not server.processes(), "redis ends", SECONDS
        ),
        # Places in its tables depend on a random number.
        ("*dict*", "*[sS]ip*", "*CaseHash*", "*KeyCompare*", "*[cC]ron*", "sdslen"),
        directory,
    )


def _connect(server: Server) -> BufferedRWPair:
    """Connect to a server as soon as it listens."""
    made: list[socket.socket] = []

    def is_connected() -> bool:
        try:
            made.append(socket.create_connection(("127.0.0.1", server.port), SECONDS))
        except OSError:
            return False
        return True

    wait_until(is_connected, f"{server.program.name} listens", SECONDS)
    with made[0] as connection:
        return connection.makefile("rwb")


def _ask(connection: BufferedRWPair, request: bytes, *expected: bytes) -> None:
    """Send a request, and compare the lines of the response with the expected ones."""
    connection.write(request)
    connection.flush()
    for line in expected:
        got = connection.readline()
        assert got == line, (request, got, line)


@contextmanager
def _connections(server: Server) -> Iterator[list[BufferedRWPair]]:
    with ExitStack() as stack:
        yield [stack.enter_context(_connect(server)) for _ in range(CONNECTIONS)]


def _get_pages(server: Server, count: int) -> int:
    request = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with _connections(server) as connections:
        for index in range(count):
            connection = connections[index % CONNECTIONS]
            _ask(connection, request, b"HTTP/1.1 200 OK\r\n")
            head = b"".join(iter(connection.readline, b"\r\n"))
            assert b"Content-Length: 43\r\n" in head, head
            assert connection.read(43)[:4] == b"GIF8"
    return count


def _set_and_get_values(server: Server, count: int) -> int:
    with _connections(server) as connections:
        for index in range(count):
            key = b"key%d" % (index // 2)
            connection = connections[index % CONNECTIONS]
            if index % 2:
                answer = (b"VALUE %s 0 5\r\n" % key, b"hello\r\n", b"END\r\n")
                _ask(connection, b"get %s\r\n" % key, *answer)
            else:
                _ask(connection, b"set %s 0 0 5\r\nhello\r\n" % key, b"STORED\r\n")
    return count


def _set_and_save_values(server: Server, count: int) -> int:
    """Two commands come on top: one saves the values in a child, one ends the server."""
    dump = server.directory / "dump.rdb"
    with _connections(server) as connections:
        for index in range(count):
            request = b"SET key%d hello\r\n" % index
            _ask(connections[index % CONNECTIONS], request, b"+OK\r\n")
        _ask(connections[0], b"BGSAVE\r\n", b"+Background saving started\r\n")
        wait_until(
            lambda: dump.exists() and len(server.processes()) == 1,
            "redis saves its data",
            SECONDS,
        )
        _ask(connections[0], b"SHUTDOWN NOSAVE\r\n", b"")
    return count + 2


def _signal(server: Server, number: signal.Signals) -> None:
    """Send a signal to the first process of a server, and wait until all have ended."""
    found = server.processes()
    assert found, f"{server.program.name} does not run"
    os.kill(min(found), number)
    wait_until(lambda: not server.processes(), f"{server.program.name} ends", SECONDS)
