"""What daemons have in common where they begin: configurations, the background."""

from __future__ import annotations

import argparse
import os
import socket
import sys
from collections.abc import Callable, Mapping
from configparser import ConfigParser
from configparser import Error as ConfigError
from contextlib import suppress

from ..daemon.refusals import os_error_text
from ..daemon.run_paths import home_folder
from ..errors import VestigeError
from ..plain_text import plain

__all__ = [
    "FAILED",
    "allow_many_files",
    "close_streams",
    "error_text",
    "given_settings",
    "go_to_background",
    "is_on",
    "read_configurations",
    "tell_manager",
]

FAILED = 1
"""An exit status."""
SYSTEM_CONFIG = "/etc/lttng/lttng.conf"


def read_configurations(
    section: str, chosen: str | None, options: argparse.Namespace
) -> dict[str, str]:
    """Return the settings of all configuration files, the last ones winning.

    Those that the daemon does not know are told, and left out.

    Args:
        section: Of which daemon.
        chosen: The last of them, which must be there.
        options: All that the daemon knows, as its command line was read.

    Returns:
        Settings of the section by the long names of options.

    Raises:
        VestigeError: A file makes no sense.
    """
    paths = [SYSTEM_CONFIG]
    if (home := home_folder()) is not None:
        paths.append(f"{home}/.lttng/lttng.conf")
    parser = ConfigParser(interpolation=None)
    try:
        parser.read(paths)
        if chosen is not None:
            with open(chosen) as file:  # noqa: PTH123 - as the others
                parser.read_file(file)
    except (ConfigError, UnicodeDecodeError) as error:
        why = " ".join(str(error).split())
        raise VestigeError(f"expected a configuration: {why}") from error
    settings = dict(parser[section]) if parser.has_section(section) else {}
    for name in [*settings]:
        if name.replace("-", "_") not in vars(options):
            del settings[name]
            print(
                f'Warning: Unrecognized option "{plain(name)}" in daemon configuration '
                "file.",
                file=sys.stderr,
                flush=True,
            )
    return settings


def error_text(error: VestigeError | OSError) -> str:
    """Return what an error says, without the system's number of it."""
    return os_error_text(error) if isinstance(error, OSError) else str(error)


def given_settings(options: argparse.Namespace) -> dict[str, str]:
    """Return what a command line says, as a configuration file would.

    Args:
        options: The options, and as ``words`` what is none.
    """
    return {
        name.replace("_", "-"): "yes" if value is True else str(value)
        for name, value in vars(options).items()
        if value not in (None, False) and name != "words"
    }


def is_on(settings: Mapping[str, str], name: str) -> bool:
    """Tell whether a setting is on; by default it is not.

    Numbers are on where they are not 0, as LTTng reads them.

    Raises:
        VestigeError: It is neither on nor off.
    """
    value = settings.get(name, "no").lower()
    if value.isdecimal():
        return int(value) != 0
    if value in {"true", "yes", "on"}:
        return True
    if value in {"false", "no", "off"}:
        return False
    raise VestigeError(
        f"{name} = {value}: expected true, yes, on, 1, false, no, off or 0"
    )


def tell_manager() -> None:
    """Tell systemd that clients can connect, if it has started us; sd_notify(3)."""
    path = os.environ.pop("NOTIFY_SOCKET", "")
    if path[:1] not in {"/", "@"}:
        return
    # Of the abstract ones, the first byte is zero.
    address = path.replace("@", "\0", 1) if path[0] == "@" else path
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.connect(address)
        manager.sendall(b"READY=1")


def allow_many_files() -> None:
    """Have as many descriptors as this user may have."""
    import resource

    kind = resource.RLIMIT_NOFILE
    _, most = resource.getrlimit(kind)
    with suppress(OSError, ValueError):
        resource.setrlimit(kind, (most, most))


def go_to_background() -> Callable[[], None] | int:
    """Fork; return the status in the parent, in the child what ends its wait."""
    reader, writer = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    if os.fork():
        os.close(writer)
        is_ready = os.read(reader, 1) == b"\0"
        return 0 if is_ready else FAILED
    os.close(reader)
    os.setsid()

    def tell() -> None:
        os.write(writer, b"\0")
        os.close(writer)

    return tell


def close_streams(*streams: int) -> None:
    """Let standard streams lead nowhere."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in streams:
        os.dup2(null, stream)
    if null > 2:  # noqa: PLR2004 - the last standard stream
        os.close(null)
