"""What a wheel holds besides the package: licences, the demo as one archive, small libraries.

``setup.py`` calls this while it builds; it needs nothing but the standard library,
cargo, and binutils, which every C compiler brings along.
"""

from __future__ import annotations

import json
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["pack_demo", "split_debug_files", "write_crate_licences"]

LICENCE_NAMES = ("LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE", "COPYRIGHT")
DEMO_FOLDERS = ("trace", "root", "debug", "src")
ELF_MAGIC = b"\x7fELF"
BINDINGS = frozenset({"vestige-python", "vestige-collector-python"})
HEAD = """\
Licences of the Rust crates that are linked into vestige's extensions

Each crate is followed by its version, the licences that its authors offer, and the texts
that it comes with. Rust's standard library is linked, too: copyright the Rust Project
contributors, MIT OR Apache-2.0, with texts as below.
"""


def pack_demo(demo: Path, archive: Path) -> None:
    """Write the recording that ships, with its binaries and debug files, as one archive.

    The same files give the same bytes. As single files, its binaries would be taken for
    libraries of the package, whatever they were linked with.

    Args:
        demo: The folder of the demo in the source tree.
        archive: Where to write the zip file.
    """
    archive.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for folder in DEMO_FOLDERS:
            for path in sorted((demo / folder).rglob("*")):
                if path.is_file():
                    packed.writestr(_member(demo, path), path.read_bytes())


def _member(demo: Path, path: Path) -> zipfile.ZipInfo:
    # Without a date it is that of the beginning, so that builds are the same.
    member = zipfile.ZipInfo(str(path.relative_to(demo)))
    member.compress_type = zipfile.ZIP_DEFLATED
    member.external_attr = 0o644 << 16
    return member


def split_debug_files(root: Path, debug: Path | None) -> list[Path]:
    """Strip the ELF files below a folder; put their debug files apart.

    Args:
        root: The folder of the built package.
        debug: Where the debug files go, each at ``.build-id/xx/….debug`` as debuggers
            look for them; with None they are not kept.

    Returns:
        The files that were stripped.
    """
    stripped = [path for path in sorted(root.rglob("*")) if _is_elf(path)]
    for path in stripped:
        if debug is not None:
            _keep_debug_file(path, debug)
        subprocess.run(["strip", "--strip-unneeded", str(path)], check=True)
    return stripped


def _is_elf(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        # What programs link is as the compiler made it.
        return file.read(4) == ELF_MAGIC and path.suffix != ".o"


def _keep_debug_file(path: Path, debug: Path) -> None:
    notes = subprocess.run(
        ["readelf", "-n", str(path)], check=True, capture_output=True, text=True
    ).stdout
    found = [line.split()[-1] for line in notes.splitlines() if "Build ID:" in line]
    if not found:
        raise RuntimeError(f"{path}: expected a build ID, to find its debug file by")
    target = debug / ".build-id" / found[0][:2] / f"{found[0][2:]}.debug"
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["objcopy", "--only-keep-debug", str(path), str(target)], check=True)


def write_crate_licences(project: Path, target: Path) -> None:
    """Write the licences of all crates that are linked into the extension.

    Args:
        project: The folder with ``Cargo.toml``.
        target: The text file to write.

    Raises:
        subprocess.CalledProcessError: cargo could not tell which crates these are.
    """
    parts = [HEAD, *map(_licence_of, _linked_crates(project))]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("\n".join(parts), encoding="utf-8")


def _licence_of(package: dict[str, Any]) -> str:
    source = Path(package["manifest_path"]).parent
    title = f"{package['name']} {package['version']}: {package['license']}"
    lines = ["=" * 78, title, package["repository"] or "", ""]
    texts = [path for path in sorted(source.iterdir()) if _is_licence(path)]
    if not texts:
        authors = ", ".join(package["authors"]) or "its authors"
        lines.append(f"Copyright (c) {authors}; the crate comes without a text.")
    for path in texts:
        text = path.read_text(encoding="utf-8", errors="replace").strip()
        lines += [f"---- {path.name}", "", text, ""]
    return "\n".join(lines) + "\n"


def _is_licence(path: Path) -> bool:
    return path.is_file() and path.name.upper().startswith(LICENCE_NAMES)


def _linked_crates(project: Path) -> Iterator[dict[str, Any]]:
    """Give the crates in the extension: no macros of the compiler, no tests, not ours."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    out = subprocess.run(
        command, cwd=project, check=True, stdout=subprocess.PIPE
    ).stdout
    facts = json.loads(out)
    packages = {package["id"]: package for package in facts["packages"]}
    nodes = {node["id"]: node for node in facts["resolve"]["nodes"]}
    todo = [one for one in packages if packages[one]["name"] in BINDINGS]
    seen: set[str] = set()
    while todo:
        one = todo.pop()
        if one in seen or _is_macro(packages[one]):
            continue
        seen.add(one)
        todo += [edge["pkg"] for edge in nodes[one]["deps"] if _is_linked(edge)]
    ours = set(facts["workspace_members"])
    yield from sorted(
        (packages[one] for one in seen - ours),
        key=lambda package: (package["name"], package["version"]),
    )


def _is_linked(edge: dict[str, Any]) -> bool:
    return any(kind["kind"] is None for kind in edge["dep_kinds"])


def _is_macro(package: dict[str, Any]) -> bool:
    return any("proc-macro" in target["kind"] for target in package["targets"])
