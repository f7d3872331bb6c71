"""Servers built from the sources of the Debian release that this machine runs.

They are compiled once with calls of the hooks, into a cache folder outside of the
repository: ``$XDG_CACHE_HOME/vestige-judge``. Delete it to build newer versions.
"""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "MEMCACHED",
    "NGINX",
    "REDIS",
    "BuildError",
    "SourcePackage",
    "UnavailableError",
    "built_program",
]

FLAGS = "-g -O1 -finstrument-functions"
SECONDS = 900.0
ARCHIVE = "http://deb.debian.org/debian"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
TOOLS = ("apt-get", "dpkg-source", "patch", "gcc", "make")


class UnavailableError(Exception):
    """Something that a build needs is not on this machine, or cannot be downloaded."""


class BuildError(Exception):
    """A server could be downloaded but not built."""


@dataclass(frozen=True)
class SourcePackage:
    """A source package of Debian, and how its program is made."""

    name: str
    commands: Sequence[Sequence[str]]
    """What is run in the unpacked sources."""

    program: str
    """Where the program is afterwards."""

    headers: Sequence[str] = ()
    """What it includes, below ``/usr/include``, with the package that has it."""

    def missing(self) -> str | None:
        """Return why it cannot be built here, or None."""
        for tool in TOOLS:
            if shutil.which(tool) is None:
                return f"not installed: {tool}"
        for line in self.headers:
            header, package = line.split()
            if not Path("/usr/include", header).exists():
                return f"not installed: {package}"
        if not KEYRING.exists() or _release().get("ID") != "debian":
            return "the sources are those of Debian, and this is another system"
        return None


NGINX = SourcePackage(
    "nginx",
    (
        (
            "./configure",
            "--without-http_rewrite_module",
            "--without-http_gzip_module",
            f"--with-cc-opt={FLAGS}",
        ),
        ("make", "-j2"),
    ),
    "objs/nginx",
)
MEMCACHED = SourcePackage(
    "memcached",
    (("./configure", "--enable-seccomp", f"CFLAGS={FLAGS}"), ("make", "-j2")),
    "memcached",
    ("event.h libevent-dev", "seccomp.h libseccomp-dev"),
)
REDIS = SourcePackage(
    "redis",
    (
        (
            "make",
            "-C",
            "src",
            "-j2",
            "MALLOC=libc",
            "USE_SYSTEMD=no",
            "OPTIMIZATION=-O1",
            "REDIS_CFLAGS=-finstrument-functions",
            "redis-server",
        ),
    ),
    "src/redis-server",
)


def built_program(package: SourcePackage) -> Path:
    """Return the program of a package; it is built when it is first asked for.

    Raises:
        UnavailableError: When a tool is missing, or the archive is out of reach.
        BuildError: When the sources do not compile.
    """
    if reason := package.missing():
        raise UnavailableError(reason)
    folder = _cache() / package.name
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder.parent / f"{package.name}.lock"):
        recipe = repr((package, _release().get("VERSION_ID")))
        stamp = folder / "recipe"
        if not stamp.exists() or stamp.read_text(encoding="utf-8") != recipe:
            shutil.rmtree(folder)
            folder.mkdir()
            _build(package, folder)
            stamp.write_text(recipe, encoding="utf-8")
    [found] = folder.glob(f"{package.name}-*/{package.program}")
    return found


def _build(package: SourcePackage, folder: Path) -> None:
    _download(package.name, folder)
    [tree] = (path for path in folder.iterdir() if path.is_dir())
    for command in package.commands:
        done = _run(command, tree)
        if done.returncode != 0:
            last = "\n".join((done.stdout + done.stderr).splitlines()[-20:])
            raise BuildError(f"{package.name}: {' '.join(command)}\n{last}")


def _download(name: str, folder: Path) -> None:
    """Unpack a source package with Debian's patches; apt compares the checksums."""
    apt = folder.parent / "apt"
    for part in ("lists/partial", "cache/archives/partial"):
        (apt / part).mkdir(parents=True, exist_ok=True)
    sources = apt / "sources.list"
    codename = _release()["VERSION_CODENAME"]
    sources.write_text(
        f"deb-src [signed-by={KEYRING}] {ARCHIVE} {codename} main\n", encoding="utf-8"
    )
    # The machine's own lists stay as they are.
    settings = {
        "Dir::Etc::SourceList": sources,
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::State::Lists": apt / "lists",
        "Dir::Cache": apt / "cache",
        "APT::Sandbox::User": "root",
    }
    options = [
        word for pair in settings.items() for word in ("-o", "=".join(map(str, pair)))
    ]
    with _locked(apt / "lock"):
        for words in (["update"], ["source", name]):
            done = _run(["apt-get", *options, "-q", *words], folder)
            if done.returncode != 0:
                raise UnavailableError(
                    f"apt-get {' '.join(words)}: {done.stderr.strip()[-300:]}"
                )


def _run(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["nice", *command],
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=SECONDS,
        check=False,
    )


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home, "vestige-judge")


def _release() -> dict[str, str]:
    try:
        return platform.freedesktop_os_release()
    except OSError:
        return {}


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep other runs of the tests out."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
