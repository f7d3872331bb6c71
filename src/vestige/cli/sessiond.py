"""Where ``vestige-sessiond`` begins: its options, its configuration, the background."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import NoReturn

from .. import __version__
from ..daemon.run_paths import (
    AGENT_PORTS,
    TRACING_GROUP,
    RunPaths,
    home_folder,
    run_paths,
)
from ..errors import DaemonRunsError, VestigeError
from ..plain_text import plain
from .daemon_start import (
    FAILED,
    allow_many_files,
    close_streams,
    error_text,
    given_settings,
    go_to_background,
    is_on,
    read_configurations,
    tell_manager,
)

__all__ = ["entry_point", "main"]

LAST_PORT = 65535
_MODULES = {
    "kmod-probes": "LIST",
    "extra-kmod-probes": "LIST",
}
"""Options of lttng-sessiond for modules: the kernel is recorded without any."""
_WITHOUT_MEANING = {
    "kconsumerd-cmd-sock": "PATH",
    "kconsumerd-err-sock": "PATH",
    "ustconsumerd32-cmd-sock": "PATH",
    "ustconsumerd64-cmd-sock": "PATH",
    "ustconsumerd32-err-sock": "PATH",
    "ustconsumerd64-err-sock": "PATH",
    "consumerd32-path": "PATH",
    "consumerd32-libdir": "DIR",
    "consumerd64-path": "PATH",
    "consumerd64-libdir": "DIR",
    "event-notifier-error-buffer-size-kernel": "COUNT",
    "event-notifier-error-buffer-size-userspace": "COUNT",
}
"""Options of lttng-sessiond for what there is not: consumers, triggers."""
_FLAGS = {
    "background": ("b", "go to the background; standard streams stay open"),
    "daemonize": ("d", "go to the background and close the standard streams"),
    "sig-parent": ("S", "send SIGUSR1 to the parent when clients can connect"),
    "quiet": ("q", "print nothing"),
    "no-kernel": (None, "record nothing of the kernel"),
    "verbose-consumer": (None, "has no meaning here"),
}


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the daemon's command line."""
    parser = argparse.ArgumentParser(
        prog="vestige-sessiond",
        description="Keep recording sessions, and let running programs record.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "-V", "--version", action="version", version=f"vestige-sessiond {__version__}"
    )
    for name, (short, about) in _FLAGS.items():
        names = [f"-{short}"] if short else []
        parser.add_argument(*names, f"--{name}", action="store_true", help=about)
    parser.add_argument("-v", "--verbose", action="count", help="has no meaning here")
    parser.add_argument(
        "-f", "--config", metavar="PATH", help="read this configuration last"
    )
    parser.add_argument(
        "-g",
        "--group",
        metavar="GROUP",
        help=f"who may control root's daemon (default: {TRACING_GROUP})",
    )
    parser.add_argument(
        "-l",
        "--load",
        metavar="PATH",
        help="set up the sessions of this configuration, or of a directory of some",
    )
    parser.add_argument(
        "-c", "--client-sock", metavar="PATH", help="where clients connect"
    )
    parser.add_argument(
        "-a", "--apps-sock", metavar="PATH", help="where programs connect"
    )
    parser.add_argument(
        "--attached",
        action="store_true",
        help="say on standard output when clients can connect, load no sessions, and "
        "end after standard input, once no session is left",
    )
    parser.add_argument(
        "--agent-tcp-port",
        metavar="PORT",
        help="where agents of logging libraries connect, at 127.0.0.1 "
        f"(default: the first free port from {AGENT_PORTS[0]} to {AGENT_PORTS[-1]})",
    )
    parser.add_argument(
        "--kernel-logger",
        metavar="PATH",
        help="let any user write text for the kernel's traces to PATH, too, such as "
        "/dev/lttng-logger: a named pipe while the daemon runs",
    )
    parser.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    for name, metavar in _MODULES.items():
        parser.add_argument(
            f"--{name}", metavar=metavar, help="has nothing to load here"
        )
    for name, metavar in _WITHOUT_MEANING.items():
        parser.add_argument(f"--{name}", metavar=metavar, help="has no meaning here")
    return parser


def main(words: Sequence[str]) -> int:
    """Run the daemon until a signal ends it.

    Args:
        words: What follows its name.

    Returns:
        The exit status.
    """
    # lttng-sessiond takes no notice of words that are no options.
    options = build_parser().parse_args(words)
    try:
        settings = {
            **read_configurations("sessiond", options.config, options),
            **given_settings(options),
        }
        return _run(settings)
    except DaemonRunsError as error:
        return _report(settings, str(error))
    except (VestigeError, OSError) as error:
        return _report({}, error_text(error))


def _report(settings: Mapping[str, str], message: str) -> int:
    if settings.get("quiet") != "yes":
        print(f"Error: {plain(message)}", file=sys.stderr, flush=True)
    return FAILED


def _run(settings: Mapping[str, str]) -> int:
    paths = _paths(settings)
    parent = os.getppid()
    is_attached = is_on(settings, "attached")
    is_daemon = is_on(settings, "daemonize")
    signals_parent = is_on(settings, "sig-parent")
    tell: Callable[[], None] | None = None
    if is_daemon or is_on(settings, "background"):
        background = go_to_background()
        if isinstance(background, int):
            return background
        tell = background

    def when_ready() -> None:
        if is_attached:
            # Whoever started us may be gone: then nobody asks for anything.
            with suppress(BrokenPipeError):
                os.write(1, b"ready\n")
            close_streams(1, 2)
        if is_daemon:
            close_streams(0, 1, 2)
        if tell is not None:
            tell()
        if signals_parent:
            os.kill(parent, signal.SIGUSR1)
        tell_manager()

    allow_many_files()
    # This takes a while to import: who asks for help does not wait for it.
    from ..daemon.own_programs import AllPrograms
    from ..daemon.server import Daemon, DaemonOptions

    warn = partial(_warn, settings)
    for name in sorted(_MODULES.keys() & settings.keys()):
        warn(f"--{name}: there is nothing to load: the kernel is recorded by tracefs")
    daemon_options = DaemonOptions(
        paths,
        settings.get("group", TRACING_GROUP),
        settings.get("load"),
        home_folder(),
        is_attached,
        warn,
        _logger(settings),
    )
    has_kernel = not is_on(settings, "no-kernel")
    make_backend = partial(AllPrograms, warn=warn, has_kernel=has_kernel)
    Daemon(daemon_options, make_backend, when_ready).run()
    return 0


def _warn(settings: Mapping[str, str], message: str) -> None:
    if settings.get("quiet") != "yes":
        print(f"Warning: {plain(message)}", file=sys.stderr, flush=True)


def _paths(settings: Mapping[str, str]) -> RunPaths:
    paths = run_paths(is_root=os.geteuid() == 0)
    ports = paths.agent_ports
    if "agent-tcp-port" in settings:
        ports = (_port(settings["agent-tcp-port"]),)
    elif is_on(settings, "attached"):
        # Agents do not look for such a daemon, and there are few ports.
        ports = ()
    return paths._replace(
        client_socket=settings.get("client-sock", paths.client_socket),
        application_socket=settings.get("apps-sock", paths.application_socket),
        agent_ports=ports,
    )


def _logger(settings: Mapping[str, str]) -> str | None:
    path = settings.get("kernel-logger")
    if path is not None and not path.startswith("/"):
        raise VestigeError(f"kernel-logger = {path}: expected an absolute path")
    return path


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= LAST_PORT:
        raise VestigeError(
            f"agent-tcp-port = {text}: expected a port from 1 to {LAST_PORT}"
        )
    return int(text)


def entry_point() -> NoReturn:
    """Run the daemon of this process and exit."""
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    entry_point()
