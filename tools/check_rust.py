"""Refuse modules of a Rust crate that use each other in a circle.

The compiler takes circles; people have to read all of one to understand any of it. What
is looked at are paths that begin with ``crate``, ``super`` or ``self``, outside of unit
tests; a name that is exported again counts for the module that it comes from. Modules
and folders are compared with those beside them, at each level.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATH = re.compile(r"\b(?:crate|super|self)(?:::\w+|::(?=[{*]))+")
GROUP = re.compile(r"[{},]|[^{},]+")
TESTS = re.compile(
    r"^#\[cfg\(test\)\]\s*(?:#\[[^\n]*\]\s*)*mod \w+ \{.*?^\}",
    re.MULTILINE | re.DOTALL,
)
COMMENT = re.compile(r"//[^\n]*")
USE = re.compile(r"^\s*(?:pub(?:\([^)]*\))? )?use ([^;]+);", re.MULTILINE)
EXPORT = re.compile(r"^pub(?:\([^)]*\))? use ([^;]+);", re.MULTILINE)


def names(text: str) -> frozenset[str]:
    """Return the names in a text.

    Args:
        text: The names, with spaces between them.
    """
    return frozenset(text.split())


ALLOWED: Mapping[str, tuple[tuple[frozenset[str], str], ...]] = {
    "vestige-collector": (
        (
            names("append drain kept loaded_state recording state trace"),
            "the steps of a recording are methods of one type, in a file each",
        ),
    ),
    "vestige-ctf": (
        (
            names("filter stream"),
            "a stream leaves out records by a filter, which reads records of streams",
        ),
    ),
    "vestige-ctf/columns": (
        (
            names("builder ctf2_node gather layout node plan types"),
            "a column of structures has columns, down to the bottom",
        ),
    ),
    "vestige-ctf/stream": (
        (
            names("batch data_stream reader record_evidence scan selection step_table"),
            "a reader is made of a data stream, and a data stream is read by one",
        ),
    ),
    "vestige-python": (
        (
            names("calls intervals"),
            "a fold gives an index away, and an index begins folds",
        ),
        (
            names("event event_view fields_view merge"),
            "an event keeps its merge, which makes events and is read by filters",
        ),
    ),
    "vestige-symbols/dwarf": (
        (
            names("debug_info functions origins split_unit unit"),
            "an entry refers to entries of any unit, and a split unit has units of its own",
        ),
    ),
}
"""For each crate and folder the circles that there are, each with its reason.

A circle that grows is refused, and so is an entry that is no longer needed.
"""

Module = tuple[str, ...]


def expand(text: str) -> Iterator[str]:
    """Yield the paths of a ``use``, one for each name.

    Args:
        text: What stands between ``use`` and the semicolon.
    """
    text = re.sub(r"\s+", " ", text).strip()
    prefixes = [""]
    current = ""
    for piece in GROUP.findall(text):
        if piece == "{":
            prefixes.append(prefixes[-1] + current)
            current = ""
        elif piece in "},":
            if current.strip():
                yield prefixes[-1] + current.strip()
            current = ""
            if piece == "}":
                prefixes.pop()
        else:
            current = piece.strip() or current
    if current.strip():
        yield prefixes[-1] + current.strip()


class Crate:
    """The modules of a crate, and which of them use which.

    Args:
        folder: Its folder of sources.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.texts = {
            self._module(path): COMMENT.sub("", TESTS.sub("", path.read_text("utf-8")))
            for path in sorted(folder.rglob("*.rs"))
        }
        self.exports = {
            (module, name): target
            for module, text in self.texts.items()
            for one in EXPORT.findall(text)
            for target, name in self._exported(module, one)
        }

    def _module(self, path: Path) -> Module:
        parts = path.relative_to(self.folder).with_suffix("").parts
        return parts[:-1] if parts[-1] in {"lib", "main", "mod"} else parts

    def _exported(self, module: Module, text: str) -> Iterator[tuple[Module, str]]:
        for path in expand(text):
            words, _, alias = path.partition(" as ")
            parts = self._absolute(module, words.split("::"))
            yield parts, alias or parts[-1]

    def _absolute(self, module: Module, parts: list[str]) -> Module:
        base = list(module)
        if parts[0] == "crate":
            base, parts = [], parts[1:]
        while parts and parts[0] in {"self", "super"}:
            if parts[0] == "super":
                base = base[:-1]
            parts = parts[1:]
        return (*base, *parts)

    def home(self, path: Module) -> Module | None:
        """Return the module that a name is from.

        Args:
            path: The whole path of the name.
        """
        for _ in range(9):
            for size in range(len(path), -1, -1):
                if path[:size] in self.texts:
                    break
            else:
                return None
            module, rest = path[:size], path[size:]
            known = self.exports.get((module, rest[0])) if rest else None
            if known is None or known == path:
                return module
            path = (*known, *rest[1:])
        return None

    def uses(self) -> Iterator[tuple[Module, Module]]:
        """Yield which module uses which."""
        for module, text in self.texts.items():
            code = EXPORT.sub("", text)
            words = [path for one in USE.findall(code) for path in expand(one)]
            words = [one for one in words if one.startswith(("crate", "super", "self"))]
            words += PATH.findall(USE.sub("", code))
            for one in words:
                parts = [part for part in one.partition(" as ")[0].split("::") if part]
                home = self.home(self._absolute(module, parts))
                if home is not None and home != module:
                    yield module, home


def circles(edges: Mapping[str, set[str]]) -> list[frozenset[str]]:
    """Return the sets of names of which each leads to each other one.

    Args:
        edges: Where each name leads.
    """
    reached: dict[str, set[str]] = {}
    for start in edges:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            for one in edges.get(waiting.pop(), ()):
                if one not in seen:
                    seen.add(one)
                    waiting.append(one)
        reached[start] = seen
    groups = {
        frozenset({one, *(o for o in seen if one in reached.get(o, ()))})
        for one, seen in reached.items()
        if one in seen
    }
    return sorted(groups, key=sorted)


def levels(crate: Crate) -> dict[Module, dict[str, set[str]]]:
    """Return for each folder which of its modules and folders use which.

    Args:
        crate: The crate.
    """
    found: dict[Module, dict[str, set[str]]] = {}
    for user, used in crate.uses():
        depth = 0
        while user[:depth] == used[:depth] and depth < min(len(user), len(used)):
            depth += 1
            if user[:depth] != used[:depth]:
                depth -= 1
                break
        # What a folder has in its own module counts as one of its modules.
        here = user[depth] if depth < len(user) else "mod"
        there = used[depth] if depth < len(used) else "mod"
        if here != there and not (depth == 0 and "mod" in {here, there}):
            found.setdefault(user[:depth], {}).setdefault(here, set()).add(there)
    return found


def complaints(folder: Path) -> Iterator[str]:
    """Yield what is wrong with a crate.

    Args:
        folder: Its folder of sources.
    """
    name = folder.parent.name
    needless = {
        (place, circle)
        for place, entries in ALLOWED.items()
        for circle, _ in entries
        if place.partition("/")[0] == name
    }
    for level, edges in sorted(levels(Crate(folder)).items()):
        place = "/".join([name, *level])
        for circle in circles(edges):
            if (place, circle) in needless:
                needless.remove((place, circle))
                continue
            arrows = (
                f"\n  {one} -> {', '.join(sorted(edges[one] & circle))}"
                for one in sorted(circle)
            )
            yield f"{place}: modules use each other in a circle:{''.join(arrows)}"
    for place, circle in sorted(needless, key=str):
        there = ", ".join(sorted(circle))
        yield f"{place}: a circle is allowed that there is not: {there}"


def main() -> int:
    """Look at all crates; return the exit status."""
    folders = sorted((ROOT / "crates").glob("vestige-*/src"))
    found = [one for folder in folders for one in complaints(folder)]
    for one in found:
        print(one)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
