"""Where the files of the kernel's modules are.

Modules of a release are in folders below one, each distribution has its own, and so are
the debug files of packages. A file is named as its module is, but for ``-`` in place of
``_``; files may be compressed. Which of them are of a module, their build IDs tell.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from .search_path import check_link_name
from .target_prefixes import TargetPrefixes

__all__ = ["ModuleFiles"]

_NAME = re.compile(r"(.+?)\.ko(?:\.debug)?(?:\.xz|\.zst|\.gz)?")
_BELOW = ("lib/modules", "usr/lib/modules")
_MOST = 100_000
"""Files that are looked at below a folder; distributions have some thousands."""


class ModuleFiles:
    """Finds files by the names of modules; each folder is looked at once.

    Args:
        directories: The global debug directories, in the order of the search.
        prefixes: Where directories of the traced machine are on this one.
    """

    def __init__(self, directories: Sequence[Path], prefixes: TargetPrefixes) -> None:
        self._directories = directories
        self._prefixes = prefixes
        self._known: dict[str, dict[str, list[Path]]] = {}

    def places(self, release: str, name: str) -> Iterator[Path]:
        """List files that may be those of a module.

        Args:
            release: The release of the kernel, as uname(1) tells it.
            name: The name of the module, as ``/proc/modules`` has it.

        Yields:
            The paths: those in a debug directory itself and below the release in it,
            then those of the modules that are installed.
        """
        if check_link_name(release) is not None:
            return
        for directory in self._directories:
            yield from self._listed(directory, is_deep=False).get(name, ())
            for below in _BELOW:
                path = directory / below / release
                yield from self._listed(path).get(name, ())
        for below in _BELOW:
            for place, _ in self._prefixes.host_paths(f"/{below}/{release}"):
                yield from self._listed(Path(place)).get(name, ())

    def _listed(self, folder: Path, *, is_deep: bool = True) -> dict[str, list[Path]]:
        # Folders of two names, such as /lib and /usr/lib, are one.
        real = os.path.realpath(folder)
        if real not in self._known:
            known = self._known[real] = {}
            for path in _files(real, is_deep=is_deep):
                match = _NAME.fullmatch(path.name)
                if match is not None:
                    known.setdefault(match[1].replace("-", "_"), []).append(path)
        return self._known[real]


def _files(folder: str, *, is_deep: bool) -> Iterator[Path]:
    seen = 0
    # Links lead to the source, and to other releases.
    for directory, folders, names in os.walk(folder):
        if not is_deep:
            folders.clear()
        folders.sort()
        for name in sorted(names):
            yield Path(directory, name)
        seen += len(names) + len(folders)
        if seen > _MOST:
            return
