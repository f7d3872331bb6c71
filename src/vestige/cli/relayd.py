"""Where ``vestige-relayd`` begins: its options, its configuration, the background."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from .. import __version__
from ..daemon.numbers import read_size
from ..daemon.run_paths import TRACING_GROUP, home_folder
from ..errors import VestigeError
from ..plain_text import plain
from ..relay.configuration import (
    CONTROL_PORT,
    DATA_PORT,
    LIVE_PORT,
    Limits,
    RelayOptions,
)
from ..relay.sockets import Address, KeepAlive
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
LEAST_FILES, SPARE_FILES = 100, 10
"""As lttng-relayd(8) counts descriptors."""
LEAST_MEMORY = 1 << 20
LTTNG_NAME = "lttng-relayd"
WORKING_DIRECTORY = "LTTNG_RELAYD_WORKING_DIRECTORY"
HEALTH = "LTTNG_RELAYD_HEALTH"
DISALLOW_CLEAR = "LTTNG_RELAYD_DISALLOW_CLEAR"
_FLAGS = {
    "background": ("b", "go to the background; standard streams stay open"),
    "daemonize": ("d", "go to the background and close the standard streams"),
    "disallow-clear": ("x", "let no peer clear a session"),
}
_PORTS = {
    "control-port": ("C", "commands", CONTROL_PORT),
    "data-port": ("D", "packets", DATA_PORT),
    "live-port": ("L", "viewers", LIVE_PORT),
}
_IGNORED = {"help", "config", "version"}
"""What a configuration cannot say."""


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the daemon's command line."""
    parser = argparse.ArgumentParser(
        prog="vestige-relayd",
        description="Receive trace data from session daemons, and write it to files.",
    )
    parser.add_argument("-V", "--version", action="version", version=__version__)
    for name, (short, about) in _FLAGS.items():
        parser.add_argument(f"-{short}", f"--{name}", action="store_true", help=about)
    parser.add_argument("-v", "--verbose", action="count", help="say what is done")
    for name, (short, what, port) in _PORTS.items():
        parser.add_argument(
            f"-{short}",
            f"--{name}",
            metavar="URL",
            help=f"where {what} come in, as tcp://HOST:PORT (default: {port})",
        )
    parser.add_argument(
        "--fd-pool-size",
        metavar="SIZE",
        help=f"descriptors that are open at once, {LEAST_FILES} at least (default: as "
        "many as the system allows)",
    )
    parser.add_argument(
        "-f", "--config", metavar="PATH", help="read this configuration last"
    )
    parser.add_argument(
        "-g",
        "--group",
        metavar="GROUP",
        help=f"who may ask whether it is well (default: {TRACING_GROUP})",
    )
    parser.add_argument(
        "--memory-limit",
        metavar="SIZE",
        help="memory that all peers together may cause to be used (default: "
        f"{Limits().memory >> 20}M)",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        help="where it is written to (default: $LTTNG_HOME/lttng-traces, else "
        "$HOME/lttng-traces)",
    )
    grouping = parser.add_mutually_exclusive_group()
    grouping.add_argument(
        "-p",
        "--group-output-by-host",
        action="store_true",
        help="into HOST/SESSION-DATE (the default)",
    )
    grouping.add_argument(
        "-s",
        "--group-output-by-session",
        action="store_true",
        help="into SESSION/HOST-DATE",
    )
    parser.add_argument(
        "-w",
        "--working-directory",
        metavar="DIR",
        help="where the daemon is while it runs",
    )
    parser.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    return parser


def main(words: Sequence[str]) -> int:
    """Run the daemon until a signal ends it.

    Args:
        words: What follows its name.

    Returns:
        The exit status.
    """
    options = build_parser().parse_args(words)
    try:
        configured = read_configurations("relayd", options.config, options)
        for name in _IGNORED:
            configured.pop(name, None)
        return _run({**configured, **given_settings(options)})
    except (VestigeError, OSError) as error:
        print(f"Error: {plain(error_text(error))}", file=sys.stderr, flush=True)
        return FAILED


def _run(settings: Mapping[str, str]) -> int:
    options = _options(settings)
    folder = settings.get("working-directory") or os.environ.get(WORKING_DIRECTORY)
    is_daemon = is_on(settings, "daemonize")
    tell: Callable[[], None] | None = None

    def warn(message: str) -> None:
        print(f"Warning: {plain(message)}", file=sys.stderr, flush=True)

    if is_daemon or is_on(settings, "background"):
        background = go_to_background()
        if isinstance(background, int):
            return background
        tell = background
        folder = folder or "/"
    if folder:
        try:
            os.chdir(folder)
        except OSError as error:
            # What scripts look for.
            why = f'Failed to change working directory to "{folder}"'
            raise VestigeError(f"{why}: {error.strerror}") from error
        if options.is_verbose and not os.access(folder, os.W_OK):
            warn(f'Working directory "{folder}" is not writable')

    def when_ready() -> None:
        if is_daemon:
            close_streams(0, 1, 2)
        if tell is not None:
            tell()
        tell_manager()

    # This takes a while to import: who asks for help does not wait for it.
    from ..relay.server import RelayDaemon

    RelayDaemon(options, warn, when_ready).run()
    return 0


def _options(settings: Mapping[str, str]) -> RelayOptions:
    output = settings.get("output")
    if output is None:
        home = home_folder()
        if home is None:
            raise VestigeError("neither LTTNG_HOME nor HOME is set: expected --output")
        output = f"{home}/lttng-traces"
    is_lttng = Path(sys.argv[0]).name == LTTNG_NAME
    everywhere = "0.0.0.0" if is_lttng else "localhost"  # noqa: S104 - as documented
    allows_clear = not is_on(settings, "disallow-clear")
    if allows_clear and (value := os.environ.get(DISALLOW_CLEAR)):
        allows_clear = not is_on({DISALLOW_CLEAR: value}, DISALLOW_CLEAR)
    return RelayOptions(
        str(Path(output).absolute()),
        _address(settings, "control-port", everywhere),
        _address(settings, "data-port", everywhere),
        _address(settings, "live-port", "localhost"),
        is_on(settings, "group-output-by-session"),
        allows_clear,
        most_files=_most_files(settings),
        limits=_limits(settings),
        keep_alive=KeepAlive.from_environment(os.environ),
        health=os.environ.get(HEALTH),
        group=settings.get("group", TRACING_GROUP),
        is_verbose="verbose" in settings,
    )


def _address(settings: Mapping[str, str], name: str, host: str) -> Address:
    """Return where to listen: ``tcp://HOST[:PORT]``."""
    _, _, default = _PORTS[name]
    text = settings.get(name)
    if text is None:
        return Address(host, default)
    scheme, mark, place = text.partition("://")
    place = place.partition("/")[0]
    if place.startswith("["):
        found, _, port = place[1:].partition("]")
        port = port.removeprefix(":")
    else:
        found, _, port = place.partition(":")
    is_port = not port or (port.isdecimal() and int(port) <= LAST_PORT)
    is_scheme = bool(mark) and scheme in {"tcp", "tcp6", "net", "net6"}
    if not is_scheme or not found or not is_port:
        raise VestigeError(f"{name} = {text}: expected tcp://HOST:PORT")
    return Address(found, int(port or default) or default)


def _most_files(settings: Mapping[str, str]) -> int:
    """Return how many files are open at once: half of all descriptors at most."""
    text = settings.get("fd-pool-size")
    if text is None:
        allow_many_files()
        return _most_descriptors() // 2
    most = _most_descriptors()
    if not text.isdecimal() or not LEAST_FILES <= int(text) <= most:
        raise VestigeError(
            f"fd-pool-size = {text}: expected a number from {LEAST_FILES} to {most}"
        )
    return min(int(text) - SPARE_FILES, most // 2)


def _most_descriptors() -> int:
    import resource

    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def _limits(settings: Mapping[str, str]) -> Limits:
    """Return what peers may have: as many descriptors as files leave to them."""
    limits, most = Limits(), _most_descriptors()
    text = settings.get("memory-limit")
    return limits._replace(
        connections=min(limits.connections, most // 5),
        directories=most // 4,
        memory=limits.memory if text is None else _memory(text),
    )


def _memory(text: str) -> int:
    size = read_size(text)
    if size is None or not LEAST_MEMORY <= size <= sys.maxsize:
        raise VestigeError(
            f"memory-limit = {text}: expected a size from {LEAST_MEMORY >> 20}M on"
        )
    return size


def entry_point() -> NoReturn:
    """Run the daemon of this process and exit."""
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    entry_point()
