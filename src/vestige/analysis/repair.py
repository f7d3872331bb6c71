"""Writing what is left of damaged traces as traces that any reader accepts."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from .. import core
from ..ctf import METADATA, data_file_names, usable_metadata
from ..errors import SelectionError
from ..graph import Source

__all__ = ["RepairReport", "repair"]


@dataclass
class RepairReport:
    """How much of some traces was kept."""

    files: int = 0
    """Data stream files written."""
    dropped_files: int = 0
    """Data stream files in which nothing can be kept."""
    intact: int = 0
    """Packets copied as they were."""
    mended: int = 0
    """Packets copied with a header put right."""
    cut: int = 0
    """Packets cut after their last good event record."""
    dropped: int = 0
    """Packets left out."""
    dropped_bytes: int = 0
    """Bytes left out, of packets and between them."""


def repair(
    source: Source,
    directories: Iterable[Path],
    root: Path,
    output: Path,
    progress: Callable[[int], object],
) -> RepairReport:
    """Write a copy of some traces without their damage.

    Args:
        source: The traces.
        directories: Their directories.
        root: The directory above all of them; below it, paths are kept.
        output: A directory that does not exist or is empty.
        progress: Called with a number of bytes now and then; in the end it has been
            told twice the size of all data stream files, or less.

    Returns:
        How much was kept.

    Raises:
        SelectionError: The output is not empty, or lies in the input.
        OSError: A file cannot be read or written.
    """
    directories = list(directories)
    _refuse_output(output, root)
    report = RepairReport()
    for directory in directories:
        target = output / directory.relative_to(root)
        target.mkdir(parents=True, exist_ok=True)
        (target / METADATA).write_bytes(usable_metadata(directory / METADATA))
        _copy_empty_files(directory, target)
    for stream in source.streams:
        _repair_stream(stream.handle, root, output, report, progress)
    found = sum(len(data_file_names(directory)) for directory in directories)
    report.dropped_files = found - report.files
    return report


def _refuse_output(output: Path, root: Path) -> None:
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise SelectionError(
            "the output exists; expected a new or an empty directory", path=output
        )
    if output.resolve().is_relative_to(root.resolve()):
        raise SelectionError(
            f"the output lies in the input {root}, which is not changed", path=output
        )


def _copy_empty_files(directory: Path, target: Path) -> None:
    """Keep data streams in which nothing was recorded."""
    with os.scandir(directory) as entries:
        for entry in entries:
            is_data = entry.name != METADATA and not entry.name.startswith(".")
            if is_data and entry.is_file() and entry.stat().st_size == 0:
                shutil.copyfile(entry.path, target / entry.name)


def _repair_stream(
    handle: core.DataStream,
    root: Path,
    output: Path,
    report: RepairReport,
    progress: Callable[[int], object],
) -> None:
    work = core.Repair(handle)
    while (count := work.read()) is not None:
        progress(count)
    report.dropped_bytes += handle.size
    for index, path in enumerate(handle.paths):
        target = output / Path(path).relative_to(root)
        intact, mended, cut, dropped, _ = work.write(index, str(target), progress)
        report.intact += intact
        report.mended += mended
        report.cut += cut
        report.dropped += dropped
        report.dropped_bytes -= target.stat().st_size
        if intact or mended or cut:
            report.files += 1
        else:
            target.unlink()
