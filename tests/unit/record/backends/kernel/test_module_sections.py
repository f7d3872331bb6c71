"""Where sections of modules are, as root reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from vestige.record.backends.kernel import module_sections
from vestige.record.backends.kernel.module_sections import ModuleSections

BEGIN = 0xFFFFFFFFC0100000


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a kernel tells of its modules."""
    monkeypatch.setattr(module_sections, "_MODULES", str(tmp_path / "modules"))
    monkeypatch.setattr(module_sections, "_SECTIONS", str(tmp_path / "{}"))
    return tmp_path


def load(kernel: Path, name: str, **sections: int) -> None:
    """Load a module; ``_`` in names of sections stands for a dot."""
    begin = sections["_text"]
    folder = kernel / name
    folder.mkdir(exist_ok=True)
    for section, address in sections.items():
        path = folder / section.replace("_", ".")
        path.write_text(f"0x{address:016x}\n", encoding="ascii")
    modules = kernel / "modules"
    before = modules.read_text() if modules.exists() else ""
    kept = "".join(f"{one}\n" for one in before.splitlines() if f"{name} " not in one)
    modules.write_text(f"{kept}{name} 4096 1 - Live {begin:#018x}\n")


def test_sections_with_code_are_told_once(kernel: Path) -> None:
    """Those of data have no functions; a module that is loaded again is another one."""
    loop = {"_text": BEGIN, "_init_text": 0xFFFFFFFFC0200000, "_data": BEGIN + 0x800}
    load(kernel, "loop", **loop)
    sections = ModuleSections()
    told = {"loop": [(BEGIN, ".text"), (0xFFFFFFFFC0200000, ".init.text")]}
    assert {one: sorted(own) for one, own in sections.more().items()} == told
    assert sections.more() == {}
    load(kernel, "other", _text=BEGIN + 0x10000)
    load(kernel, "loop", _text=BEGIN + 0x20000)
    more = sections.more()
    assert more["other"] == [(BEGIN + 0x10000, ".text")]
    assert (BEGIN + 0x20000, ".text") in more["loop"]


def test_what_is_hidden_is_not_told(kernel: Path) -> None:
    """Also where there are no modules, or names that no section has."""
    assert ModuleSections().more() == {}
    load(kernel, "loop", _text=BEGIN)
    (kernel / "loop" / ".text").write_text("0x0000000000000000\n")
    (kernel / "loop" / ".text x;").write_text(f"{BEGIN:#x}\n")
    (kernel / "loop" / ".text.odd").write_text("no number\n")
    assert ModuleSections().more() == {"loop": []}
