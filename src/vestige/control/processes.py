"""Running processes: whether they can be joined, and if not, what would help."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

from ..daemon.run_paths import RUN_FOLDER
from ..errors import RecordError

__all__ = [
    "check_process",
    "command_name",
    "has_lttng_ust",
    "process_name",
    "why_not_registered",
]

LTTNG_UST = "/liblttng-ust.so."
TRACER = "/libvestige-tracer.so"


def check_process(pid: int) -> None:
    """Refuse a process that cannot be joined, whatever it runs.

    Args:
        pid: Its ID.

    Raises:
        RecordError: There is none, it has ended, or it belongs to somebody else.
    """
    try:
        status = _status(pid)
    except FileNotFoundError:
        raise RecordError(f"no process has the ID {pid}") from None
    except OSError as error:
        raise RecordError(
            f"process {pid} cannot be looked at: {error.strerror}"
        ) from error
    name = status.get("Name", "")
    if status.get("State", "").startswith(("Z", "X")):
        raise RecordError(f"process {pid} ({name}) has ended")
    if status.get("Tgid") != str(pid):
        raise RecordError(
            f"{pid} is a thread: expected the ID of its process, {status.get('Tgid')}"
        )
    uid = int(status.get("Uid", "0").split()[0])
    if os.geteuid() not in {0, uid}:
        raise RecordError(
            f"process {pid} ({name}) belongs to {_user(uid)}: only that user and root "
            "can record it"
        )


def _status(pid: int) -> dict[str, str]:
    text = Path(f"/proc/{pid}/status").read_text(errors="replace")
    lines = (line.partition(":") for line in text.splitlines())
    return {name: value.strip() for name, _, value in lines}


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def process_name(pid: int) -> str:
    """Return the name of a process's executable, for people; else that of its thread.

    Args:
        pid: Its ID.
    """
    try:
        path = os.readlink(f"/proc/{pid}/exe").removesuffix(" (deleted)")  # noqa: PTH115 - text
        return os.path.basename(path)  # noqa: PTH119 - as above
    except OSError:
        pass
    try:
        return _status(pid).get("Name", "")
    except OSError:
        return ""


def command_name(pid: int) -> str:
    """Return the first word of a process's command line; empty if nobody can tell.

    Args:
        pid: Its ID; 0: it has none here.
    """
    if not pid:
        return ""
    try:
        raw = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return ""
    return raw.split(b"\0", 1)[0].decode(errors="replace")


def why_not_registered(pid: int, folder: str) -> str:
    """Say why a process has not registered with the session daemon.

    Args:
        pid: Its ID.
        folder: The run directory of the daemon.

    Returns:
        A sentence that says what would help.
    """
    name = process_name(pid)
    who = f"process {pid} ({name})"
    try:
        maps = Path(f"/proc/{pid}/maps").read_text(errors="replace")
    except OSError as error:
        return f"{who} cannot be looked at: {error.strerror}"
    if not maps:
        return f"{who} has no program: it ends, or is a kernel's"
    if TRACER in maps:
        return (
            f"{who} has the tracer of a 'vestige record' that started it, and is in "
            "no session"
        )
    if LTTNG_UST in maps:
        place = _run_folder_of(pid)
        # All programs look for root's daemon as well.
        if folder != RUN_FOLDER and place not in {None, folder}:
            return (
                f"{who} looks for a session daemon in {place}, and this one is in "
                f"{folder}: use the LTTNG_HOME that it was started with"
            )
        return (
            f"{who} has LTTng-UST and has not registered: another session daemon has "
            "it, or it has just been started or stopped; try again"
        )
    start = "python3 ..." if name.startswith("python") else name
    return (
        f"{who} has no tracer, and none can be put into it: start it with "
        f"'vestige record -- {start}'"
    )


def has_lttng_ust(pid: int) -> bool:
    """Tell whether a process has the tracer of LTTng-UST.

    Args:
        pid: Its ID.
    """
    try:
        return LTTNG_UST in Path(f"/proc/{pid}/maps").read_text(errors="replace")
    except OSError:
        return False


def _run_folder_of(pid: int) -> str | None:
    """Return where a program of LTTng-UST looks for the daemon of its user."""
    try:
        raw = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return None
    pairs = (one.partition(b"=") for one in raw.split(b"\0"))
    values = {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}
    home = values.get("LTTNG_HOME") or values.get("HOME")
    return f"{home}/.lttng" if home else None
