"""Which package of this machine's distribution would bring a missing debug file.

Only what is known without a network is asked: the package managers' own data bases say
to which package an object belongs. Debian names the package of its debug files
``PACKAGE-dbgsym``; Fedora installs them by the name of the package itself.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence

__all__ = ["debug_package_commands"]

_OWN_NAMES = {"libc6": "libc6-dbg"}
"""Debian packages whose debug files have a package with a name of its own."""
_SECONDS = 10.0
_ASKED_AT_ONCE = 200
_PLAIN_PATH = re.compile(r"/[\w./+:,@~-]+", re.ASCII)
"""Paths without characters that a package manager takes as a pattern."""


def debug_package_commands(paths: Iterable[str]) -> dict[str, str]:
    """Say which command would install the debug files of objects of this machine.

    Args:
        paths: The objects.

    Returns:
        For each path that belongs to an installed package the command.
    """
    plain = list(dict.fromkeys(path for path in paths if _PLAIN_PATH.fullmatch(path)))
    if not plain:
        return {}
    if shutil.which("dpkg-query"):
        return _debian_commands(plain)
    if shutil.which("rpm"):
        return _fedora_commands(plain)
    return {}


def _debian_commands(paths: Sequence[str]) -> dict[str, str]:
    # A merged /usr makes two paths of one, and the data base may know either.
    asked = {form: path for path in paths for form in _forms(path)}
    commands: dict[str, str] = {}
    forms = list(asked)
    for start in range(0, len(forms), _ASKED_AT_ONCE):
        part = forms[start : start + _ASKED_AT_ONCE]
        for line in _run(["dpkg-query", "-S", *part]).splitlines():
            packages, colon, form = line.partition(": ")
            if not colon or form not in asked or packages.startswith("diversion by"):
                continue
            package = packages.partition(",")[0].partition(":")[0]
            name = _OWN_NAMES.get(package, f"{package}-dbgsym")
            commands[asked[form]] = f"apt install {name}"
    return commands


def _forms(path: str) -> Sequence[str]:
    if path.startswith("/usr/"):
        return path, path.removeprefix("/usr")
    return path, f"/usr{path}"


def _fedora_commands(paths: Sequence[str]) -> dict[str, str]:
    commands: dict[str, str] = {}
    for path in paths[:_ASKED_AT_ONCE]:
        package = _run(["rpm", "-qf", "--queryformat", "%{NAME}\n", "--", path])
        name = package.partition("\n")[0]
        if re.fullmatch(r"[\w.+-]+", name, re.ASCII):
            commands[path] = f"dnf debuginfo-install {name}"
    return commands


def _run(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    # An exit status of 1 only tells that some of the paths belong to no package.
    return done.stdout.decode(errors="replace")
