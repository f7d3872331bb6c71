"""What stands in for the module ``lttngust`` in recorded programs.

Programs import it so that LTTng records their log, and do not run where it is missing.
LTTng's own one is left alone where it is installed and a session daemon is there.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # To import them takes longer than all else.
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

__all__ = ["add_agent"]

_NAME = "lttngust"
_LISTENING = "0A"
"""A state of sockets, see proc_net_tcp.txt of Linux's documentation."""
_SYSTEM_PORT = "/var/run/lttng/agent.port"


def add_agent() -> None:
    """Let the program import the module."""
    sys.meta_path.insert(0, _Finder)


class _Finder:
    """Finds the module where LTTng's own one would not record."""

    @classmethod
    def find_spec(
        cls,
        name: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Return the module's specification, or leave it to the other finders."""
        if name != _NAME:
            return None
        if cls in sys.meta_path:
            sys.meta_path.remove(cls)
        if _has_session_daemon() and _is_installed(name, path, target):
            return None
        from importlib.machinery import ModuleSpec  # noqa: PLC0415 - see above

        loader: Any = _Loader()
        return ModuleSpec(name, loader, origin="vestige")


def _is_installed(
    name: str, path: Sequence[str] | None, target: ModuleType | None
) -> bool:
    finders = (finder.find_spec(name, path, target) for finder in sys.meta_path)
    return any(spec is not None for spec in finders)


class _Loader:
    def create_module(self, _spec: ModuleSpec) -> None:
        """Leave it to the interpreter."""

    def exec_module(self, module: ModuleType) -> None:
        """Do what LTTng's agent does: every logger passes on all records."""
        import logging  # noqa: PLC0415 - the program is about to do it

        module.__doc__ = "Vestige's stand-in for the Python agent of LTTng-UST."
        logging.getLogger().setLevel(logging.NOTSET)


def _has_session_daemon() -> bool:
    """Tell whether a daemon waits for agents, without a word to it."""
    ports = {_port(path) for path in _port_files()} - {0}
    return bool(ports) and not ports.isdisjoint(_listening_ports())


def _port_files() -> tuple[str, ...]:
    directory = os.environ.get("LTTNG_UST_APP_PATH")
    if directory is not None:
        return (os.path.join(directory.partition(":")[0], "agent.port"),)  # noqa: PTH118 - pathlib takes longer to import
    home = os.environ.get("LTTNG_HOME") or os.path.expanduser("~")  # noqa: PTH111 - as above
    return _SYSTEM_PORT, os.path.join(home, ".lttng", "agent.port")  # noqa: PTH118 - as above


def _port(path: str) -> int:
    try:
        with open(path, encoding="ascii") as file:  # noqa: PTH123 - as above
            return int(file.readline(16))
    except (OSError, ValueError):
        return 0


def _listening_ports() -> set[int]:
    try:
        with open("/proc/net/tcp", encoding="ascii") as file:  # noqa: PTH123 - as above
            rows = [line.split() for line in file]
    except (OSError, ValueError):
        return set()
    return {
        int(row[1].rpartition(":")[2], 16)
        for row in rows[1:]
        if len(row) > 3 and row[3] == _LISTENING  # noqa: PLR2004 - columns
    }
