"""Kernels of Debian's releases: their packages are downloaded and unpacked once.

They go to ``$XDG_CACHE_HOME/vestige-kernels`` (else ``~/.cache/vestige-kernels``). Delete a
folder there to get a newer version. The machine's own lists of packages stay as they are.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

__all__ = ["SUITES", "Kernel", "UnavailableError", "packaged_kernel"]

SUITES: Mapping[str, str] = MappingProxyType(
    {"5.10": "bullseye", "6.1": "bookworm", "6.12": "trixie", "7": "sid"}
)
"""Which release of Debian has the kernels of a version."""

ARCHIVE = "http://deb.debian.org/debian"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
TOOLS = ("apt-get", "apt-cache", "dpkg-deb")
# Newer releases have the image and its modules in packages of their own.
PARTS = re.compile(r"linux-(?:image|binary|modules)-[\w.+~-]+")
SECONDS = 600.0


class UnavailableError(Exception):
    """Something that is needed is not on this machine, or cannot be downloaded."""


@dataclass(frozen=True)
class Kernel:
    """A kernel that was unpacked."""

    release: str
    """What ``uname -r`` will say."""

    image: Path
    modules: Path
    """The folder with its modules, ``/lib/modules/RELEASE`` of a system."""


def packaged_kernel(version: str, flavour: str = "cloud-amd64") -> Kernel:
    """Return a kernel; it is downloaded when it is first asked for.

    Args:
        version: One of :data:`SUITES`.
        flavour: Debian's name for how it is configured: ``cloud-amd64``, ``amd64``,
            ``rt-amd64``.

    Raises:
        UnavailableError: When a tool is missing, or the archive is out of reach.
    """
    for tool in TOOLS:
        if shutil.which(tool) is None:
            raise UnavailableError(f"not installed: {tool}")
    if not KEYRING.exists():
        raise UnavailableError(f"not there: {KEYRING}, which has Debian's keys")
    suite = SUITES[version]
    folder = _cache() / f"{suite}-{flavour}"
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(_cache() / f"{suite}-{flavour}.lock"):
        whole = folder / "whole"
        if not whole.exists():
            shutil.rmtree(folder)
            folder.mkdir()
            _download(suite, f"linux-image-{flavour}", folder)
            whole.touch()
    return _unpacked(folder)


def _unpacked(folder: Path) -> Kernel:
    # Both places are one folder where /lib is a link to /usr/lib.
    found = [*folder.glob("lib/modules/*"), *folder.glob("usr/lib/modules/*")]
    images = [
        *folder.glob("boot/vmlinuz-*"),
        *folder.glob("usr/lib/modules/*/vmlinuz"),
    ]
    if not found or not images:
        raise UnavailableError(f"{folder}: the packages have no kernel with modules")
    return Kernel(found[0].name, images[0], found[0])


def _download(suite: str, package: str, folder: Path) -> None:
    """Unpack a kernel's packages; apt compares signatures and checksums."""
    with tempfile.TemporaryDirectory(prefix="vestige-apt-") as name:
        apt = Path(name)
        options = _apt_options(suite, apt)
        _run(["apt-get", *options, "-q", "update"], apt)
        parts = _parts(package, options, apt)
        _run(["apt-get", *options, "-q", "download", *parts], apt)
        for deb in sorted(apt.glob("*.deb")):
            _run(["dpkg-deb", "-x", str(deb), str(folder)], apt)


def _apt_options(suite: str, apt: Path) -> list[str]:
    """Make folders that only this download uses; return what tells apt of them."""
    for part in ("lists/partial", "cache/archives/partial"):
        (apt / part).mkdir(parents=True)
    sources = apt / "sources.list"
    sources.write_text(f"deb [signed-by={KEYRING}] {ARCHIVE} {suite} main\n")
    (apt / "status").touch()
    settings = {
        "Dir::Etc::SourceList": sources,
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::State::Lists": apt / "lists",
        "Dir::State::Status": apt / "status",
        "Dir::Cache": apt / "cache",
        "APT::Sandbox::User": "root",
        "Acquire::Languages": "none",
    }
    return [
        word for pair in settings.items() for word in ("-o", f"{pair[0]}={pair[1]}")
    ]


def _parts(package: str, options: list[str], apt: Path) -> list[str]:
    """Return the packages that a package stands for, down to those with files."""
    wanted, seen = [package], []
    while wanted:
        name = wanted.pop()
        seen.append(name)
        text = _run(["apt-cache", *options, "--no-all-versions", "show", name], apt)
        depends = re.findall(r"^(?:Pre-)?Depends: (.*)$", text, re.MULTILINE)
        for other in PARTS.findall(" ".join(depends)):
            if other not in seen and other not in wanted:
                wanted.append(other)
    return seen


def _run(command: list[str], folder: Path) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=SECONDS,
        check=False,
    )
    if done.returncode != 0:
        words = " ".join(word for word in command if "::" not in word and word != "-o")
        raise UnavailableError(f"{words}: {done.stderr.strip()[-300:]}")
    return done.stdout


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home, "vestige-kernels")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep other downloads of the same kernel out."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
