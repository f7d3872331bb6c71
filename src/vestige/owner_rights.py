"""Touching files with the rights of their owner, in root's daemon."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["groups_of", "owner_rights"]


@contextmanager
def owner_rights(uid: int, gid: int) -> Iterator[None]:
    """Make the kernel check files as if a user touched them, in this thread.

    That includes the groups of the user, which all threads have meanwhile.

    A daemon that is not root's has these rights already, and nothing is done.

    Args:
        uid: The user.
        gid: The group.

    Raises:
        PermissionError: The rights cannot be had.
    """
    if os.geteuid() != 0 or uid == 0:
        yield
        return
    # Only root's daemon needs it.
    import ctypes  # noqa: PLC0415 - see above

    libc = ctypes.CDLL(None)
    before = os.getgroups()
    os.setgroups(groups_of(uid, gid))
    # Both return what was before, also when they fail: the second call tells.
    libc.setfsgid(gid)
    libc.setfsuid(uid)
    try:
        if libc.setfsuid(-1) != uid or libc.setfsgid(-1) != gid:
            raise PermissionError(f"the rights of user {uid} cannot be had")
        yield
    finally:
        libc.setfsuid(0)
        libc.setfsgid(0)
        os.setgroups(before)


def groups_of(uid: int, gid: int) -> list[int]:
    """Return the groups of a user; the daemon's own are none of them.

    Args:
        uid: The user.
        gid: Its group, which is one of them.
    """
    try:
        return os.getgrouplist(pwd.getpwuid(uid).pw_name, gid)
    except KeyError:
        return [gid]
