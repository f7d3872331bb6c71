"""Running the blocks of a document, one after the other, as a reader would."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
NEEDS = re.compile(r"^# needs (?:the )?(.*)$")
FILE_NAME = re.compile(r"^(?:/\* |# )([\w.-]+\.\w+)(?: \*/)?$")
CUT = "..."
SECONDS = 60


@dataclass(frozen=True)
class Block:
    """A block of code."""

    line: int
    language: str
    text: str

    @property
    def needs(self) -> str:
        """What its first line says that it needs; empty for nothing."""
        found = NEEDS.match(self.text.partition("\n")[0])
        return found[1].partition(":")[0] if found else ""

    @property
    def file_name(self) -> str:
        """The file that it is the contents of; empty for none."""
        found = FILE_NAME.match(self.text.partition("\n")[0])
        return found[1] if found and self.language in {"c", "python"} else ""


def blocks(path: Path) -> list[Block]:
    """Return the blocks of code of a document, in order."""
    text = path.read_text(encoding="utf-8")
    return [
        Block(text.count("\n", 0, found.start()) + 1, found[1], found[2])
        for found in FENCE.finditer(text)
    ]


class Session:
    """A shell that keeps its directory, in the environment that README makes.

    Args:
        directory: Where it begins.
        missing: Modules that cannot be imported in it, although the tests have them.
    """

    def __init__(self, directory: Path, missing: Iterable[str] = ()) -> None:
        self.directory = directory
        self._hidden = directory / ".hidden"
        self._hidden.mkdir()
        for module in missing:
            (self._hidden / f"{module}.py").write_text("raise ImportError(__name__)\n")
        self._environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(directory),
            "VESTIGE_HOME": str(directory),
            "COLUMNS": "200",
        }

    def run(self, script: str, *, extras: bool = False) -> str:
        """Run lines of a shell; they must succeed.

        Args:
            script: The lines.
            extras: Whether the modules that are missing are there.

        Returns:
            What they print, on both outputs.
        """
        done = self._run(script, {} if extras else {"PYTHONPATH": str(self._hidden)})
        assert done.returncode == 0, f"{script}\n{done.stdout}"
        return done.stdout

    def refuse(self, script: str) -> str:
        """Run lines of a shell that fail since modules are missing.

        Returns:
            What they print, on both outputs.
        """
        done = self._run(script, {"PYTHONPATH": str(self._hidden)})
        assert done.returncode != 0, f"{script}\n{done.stdout}"
        return done.stdout

    def _run(
        self, script: str, more: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        place = self.directory / ".place"
        return subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", f"{script}\npwd > {place}"],
            cwd=Path(place.read_text().strip()) if place.exists() else self.directory,
            env={**self._environment, **more},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=SECONDS,
            check=False,
        )

    def write(self, name: str, text: str) -> None:
        """Write a file into the directory of the shell."""
        place = self.directory / ".place"
        where = Path(place.read_text().strip()) if place.exists() else self.directory
        (where / name).write_text(text, encoding="utf-8")


def has(need: str, extras: dict[str, list[str]]) -> bool:
    """Return whether this machine has what a block needs.

    Raises:
        ValueError: Nobody knows what that is.
    """
    if need == "source tree":
        return False  # it has been built for this test: that is what `make` would do
    if need == "root":
        return os.geteuid() == 0
    if need == "LTTng":
        return shutil.which("lttng") is not None and _has_session_daemon()
    if need.startswith("extra ") and need.removeprefix("extra ") in extras:
        return True  # the tests have all extras
    raise ValueError(need)


def _has_session_daemon() -> bool:
    done = subprocess.run(["lttng", "list"], capture_output=True, check=False)
    return done.returncode == 0


def normal(text: str) -> str:
    """Return a text without what differs from run to run: numbers, paths, spaces."""
    text = re.sub(rf"\b{re.escape(platform.node())}\b", "host", text)
    text = re.sub(r"0x[0-9A-Fa-f]+|\d[\d,]*(\.\d+)?", "#", text)
    text = re.sub(r"#\s*(ns|µs|ms|s)\b", "#t", text)
    text = re.sub(r"(?<!\w)/\S*/", "", text)
    return re.sub(r"\s+", "", text)


def assert_printed(shown: str, printed: str, where: str) -> None:
    """Compare what a document shows with what was printed; ``...`` is anything."""
    rest = normal(printed)
    for part in re.split(rf"^{re.escape(CUT)}$", shown, flags=re.MULTILINE):
        wanted = normal(part)
        assert wanted in rest, (
            f"{where} shows\n{part}\nand this was printed:\n{printed}"
        )
        rest = rest[rest.index(wanted) + len(wanted) :]
