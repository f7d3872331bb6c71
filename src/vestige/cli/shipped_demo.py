"""The recording that ships with Vestige: folders in a checkout, one file in a wheel."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import CommandError

__all__ = ["ARCHIVE", "shipped_demo"]

DEMO = Path(__file__).resolve().parents[1] / "demo"
"""Where the package keeps what belongs to the demo."""
ARCHIVE = "shipped.zip"
"""What a wheel has in the place of the folders; ``tools/wheel_parts.py`` writes it."""


@contextmanager
def shipped_demo(demo: Path = DEMO) -> Iterator[Path]:
    """Give the folder with the recording, its binaries and their debug files.

    Args:
        demo: The package's folder of the demo.

    Yields:
        A folder with ``trace``, ``root`` and ``debug``; one that was unpacked goes away
        at the end.

    Raises:
        CommandError: The installation has neither the folders nor the archive.
    """
    if (demo / "trace").is_dir():
        yield demo
        return
    archive = demo / ARCHIVE
    if not archive.is_file():
        raise CommandError(f"{archive}: expected the recording that ships with Vestige")
    from tempfile import TemporaryDirectory
    from zipfile import ZipFile

    with TemporaryDirectory(prefix="vestige-demo-") as name:
        with ZipFile(archive) as packed:
            packed.extractall(name)
        yield Path(name)
