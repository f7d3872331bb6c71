"""The current session of a user, which verbs take if none is named.

Its name is in ``.lttngrc`` of ``$LTTNG_HOME``, else ``$HOME``, as LTTng has it.
"""

from __future__ import annotations

import os

from ..._suppress import suppress
from ...daemon.run_paths import home_folder

__all__ = ["config_path", "read_current", "remove_current", "write_current"]

_KEY = "session="


def config_path() -> str:
    """Return the file with the name of the current session."""
    return f"{home_folder() or ''}/.lttngrc"


def read_current() -> str | None:
    """Return the name of the current session; ``None`` if there is none."""
    with suppress(OSError), open(config_path(), errors="surrogateescape") as file:  # noqa: PTH123 - pathlib takes long to import
        for line in file:
            name = line.rstrip("\n").removeprefix(_KEY)
            if line.startswith(_KEY) and name:
                return name
    return None


def write_current(name: str) -> None:
    """Make a session the current one.

    Args:
        name: Its name.

    Raises:
        OSError: The file cannot be written.
    """
    path = config_path()
    new = f"{path}.new"
    try:
        with open(new, "w", errors="surrogateescape") as file:  # noqa: PTH123 - as above
            file.write(f"{_KEY}{name}\n")
        os.replace(new, path)  # noqa: PTH105 - as above
    except OSError as error:
        with suppress(OSError):
            os.unlink(new)  # noqa: PTH108 - as above
        # Nobody knows of the other file.
        raise OSError(error.errno, error.strerror, path) from None


def remove_current(name: str) -> None:
    """Have no current session, if it is this.

    Args:
        name: The name of a session that is gone.
    """
    if read_current() == name:
        with suppress(OSError):
            os.unlink(config_path())  # noqa: PTH108 - as above
