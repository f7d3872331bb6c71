"""Unit files with which systemd runs the session daemon."""

from __future__ import annotations

__all__ = ["DAEMON", "MARK", "UNIT_FOLDERS", "UNIT_NAME", "unit_text"]

MARK = "# Written by 'vestige commands install': it may be written again."
DAEMON = "vestige-sessiond"
UNIT_NAME = f"{DAEMON}.service"
UNIT_FOLDERS = {
    "system": "/etc/systemd/system",
    "user": "$HOME/.config/systemd/user",
}
"""Where systemd looks for units that are not of packages; systemd.unit(5)."""

_COMMON = """\
{mark}
[Unit]
Description=Session daemon of Vestige{whose}
Documentation=https://github.com/vestige-trace/vestige
# It has the same sockets and the same lock.
Conflicts=lttng-sessiond.service

[Service]
Type=notify
ExecStart={command}
# All sessions are ended in order, and their files completed.
KillMode=mixed
TimeoutStopSec=60
# The next one goes on with the sessions of one that was killed.
Restart=on-failure
RestartSec=1
# Each program has a few descriptors there.
LimitNOFILE=524288
{security}
[Install]
WantedBy={target}
"""
_OF_SYSTEM = """
# Not among these, since recording would not work: PrivateTmp=, ProtectHome= and
# ProtectSystem=strict (traces are where their owners want them), PrivateNetwork=
# (programs find abstract sockets), ProtectProc= and PrivatePIDs= (programs are looked
# at by their IDs), PrivateUsers=, PrivateIPC= and another /dev/shm.
NoNewPrivileges=yes
ProtectSystem=full
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
CapabilityBoundingSet=CAP_CHOWN CAP_DAC_OVERRIDE CAP_DAC_READ_SEARCH CAP_FOWNER
CapabilityBoundingSet=CAP_KILL CAP_SETGID CAP_SETUID CAP_SYS_PTRACE CAP_SYS_RESOURCE
"""
_OF_USER = """
NoNewPrivileges=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
"""


def unit_text(kind: str, command: str) -> str:
    """Return a unit file.

    Args:
        kind: ``system`` or ``user``.
        command: The path of the daemon's program.
    """
    is_system = kind == "system"
    return _COMMON.format(
        mark=MARK,
        whose="" if is_system else " for this user",
        command=_quoted(command),
        security=_OF_SYSTEM if is_system else _OF_USER,
        target="multi-user.target" if is_system else "default.target",
    )


def _quoted(path: str) -> str:
    """Write a path as systemd.service(5) has words of command lines."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped.replace("%", "%%").replace("$", "$$")}"'
