"""Short texts that the command line keeps for a user, from one call to the next.

Each is a file in the directory where recordings go by default: its name and the user's
ID. It is replaced as a whole, links are not followed, and a file of another user is not
believed.
"""

from __future__ import annotations

import os
import stat

from .._suppress import suppress

__all__ = ["keep_text", "kept_text", "recordings_directory"]

LONGEST = 1 << 14
"""Bytes of a text that is believed."""


def recordings_directory() -> str | None:
    """Return the directory where recordings go by default; ``None`` without a home."""
    home = os.environ.get("VESTIGE_HOME") or os.environ.get("HOME")
    return os.path.join(home, "vestige-traces") if home else None  # noqa: PTH118 - pathlib takes long to import


def keep_text(name: str, text: bytes) -> None:
    """Keep a text; what cannot be kept is forgotten.

    Args:
        name: What it is called.
        text: The text.
    """
    place = recordings_directory()
    if place is None:
        return
    # A home that cannot be written is no reason for a recording to fail.
    with suppress(OSError):
        os.makedirs(place, exist_ok=True)  # noqa: PTH103 - as above
        directory = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _replace(directory, _file(name), text)
        finally:
            os.close(directory)


def _replace(directory: int, name: str, content: bytes) -> None:
    partial = f"{name}.{os.urandom(8).hex()}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(partial, flags, 0o600, dir_fd=directory)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.rename(partial, name, src_dir_fd=directory, dst_dir_fd=directory)
    except OSError:
        os.unlink(partial, dir_fd=directory)
        raise


def _file(name: str) -> str:
    return f".{name}-{os.geteuid()}"


def kept_text(name: str) -> bytes | None:
    """Return a text that was kept; ``None`` without any.

    Args:
        name: What it is called.
    """
    place = recordings_directory()
    if place is None:
        return None
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(os.path.join(place, _file(name)), flags)  # noqa: PTH118 - as above
    except OSError:
        return None
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid():
            return None
        return os.read(descriptor, LONGEST)
    finally:
        os.close(descriptor)
