"""Names for addresses of the kernel, as its trace keeps them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from vestige.core import TraceClass
from vestige.record.backends.kernel import kernel_names
from vestige.record.backends.kernel.kernel_names import KernelNames, NameFiles

SYMBOLS = """\
0000000000000000 A fixed_percpu_data
ffffffff81000000 T _stext
ffffffff81000000 T _text
ffffffff81000100 t schedule
ffffffff81000140 t other
ffffffff81000200 T _etext
ffffffffc0100040 t probe\t[loop]
"""
MODULES = """\
loop 4096 1 - Live 0xffffffffc0100000
hidden 4096 0 - Live 0x0000000000000000
"""


@pytest.fixture
def files(tmp_path: Path):
    """What a kernel tells."""
    (tmp_path / "symbols").write_text(SYMBOLS)
    (tmp_path / "modules").write_text(MODULES)
    names = ("symbols", "modules")
    opened = NameFiles(*(os.open(tmp_path / one, os.O_RDONLY) for one in names))
    yield opened
    opened.close()


def read(text: str) -> TraceClass:
    """Read metadata with some more text, as a trace has them."""
    head = "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };"
    stream = "stream { event.header := struct { integer { size = 8; } id; }; };"
    return TraceClass.parse(f"{head} {stream} event {{ name = e; }}; {text}".encode())


def test_each_function_is_told_once(files: NameFiles) -> None:
    """Whoever reads the metadata knows all of them, and where modules are."""
    names = KernelNames(files)
    first = names.name([0xFFFFFFFF81000104, 0xFFFFFFFF81000110])
    assert names.name([0xFFFFFFFF81000120]) == ""
    second = names.name([0xFFFFFFFF8100017F, 0xFFFFFFFFC0100FFF])
    assert names.text == first + second
    trace = read(names.text)
    assert trace.kernel_functions() == [
        (0xFFFFFFFF81000100, 0x40, "schedule", ""),
        (0xFFFFFFFF81000140, 0xC0, "other", ""),
        (0xFFFFFFFFC0100040, 0xFC0, "probe", "loop"),
    ]
    assert trace.kernel_modules()[0][:3] == (0xFFFFFFFFC0100000, 0x1000, "loop")


def test_symbols_are_read_again_where_others_may_have_come(
    files: NameFiles, tmp_path: Path
) -> None:
    """With another module, and for what is of neither the kernel nor a module."""
    module, bpf = 0xFFFFFFFFC0100040, 0xFFFFFFFFC0400000
    symbols, modules = tmp_path / "symbols", tmp_path / "modules"
    names = KernelNames(files)
    names.name([0xFFFFFFFF81000104])

    symbols.write_text("")
    assert ' other"' in names.name([0xFFFFFFFF81000144])
    symbols.write_text(f"{SYMBOLS}{bpf:x} t bpf_prog_1\t[bpf]\n")
    assert " bpf_prog_1 bpf" in names.name([bpf + 4])
    # The same module elsewhere, and another one where it was.
    symbols.write_text(SYMBOLS.replace("probe\t[loop]", "begin\t[next]"))
    modules.write_text(
        "loop 4096 1 - Live 0xffffffffc0200000\nnext 4096 0 - Live 0xffffffffc0100000\n"
    )
    assert " begin next" in names.name([module + 8])


def test_sections_of_modules_with_functions_are_told(files: NameFiles) -> None:
    """As soon as they are known, be that behind the functions."""
    names = KernelNames(files)
    begin = 0xFFFFFFFFC0100000
    names.learn({"other": [(5, ".text")]})
    names.name([begin + 0x44])
    assert read(names.text).kernel_sections() == []
    names.learn({"loop": [[begin, ".text"], [begin + 0x9000, ".init.text"]]})
    assert names.name([]) != ""
    assert names.name([]) == ""
    assert read(names.text).kernel_sections() == [
        (begin, ".text", "loop"),
        (begin + 0x9000, ".init.text", "loop"),
    ]


def test_what_is_no_function_says_nothing(files: NameFiles) -> None:
    """Such as addresses of data, or of what is gone by now."""
    names = KernelNames(files)
    assert names.name([0xFFFFFFFF81000200, 0xFFFFFFFFC0101000, 5]) == ""
    assert names.text == ""


def test_many_functions_are_in_several_entries(tmp_path: Path) -> None:
    """Each of some length, whatever there is."""
    count = 3000
    lines = [f"{0x1000 + one * 16:016x} t a_function_{one}\n" for one in range(count)]
    (tmp_path / "symbols").write_text("".join(lines) + "00000000ffffffff T _etext\n")
    symbols = os.open(tmp_path / "symbols", os.O_RDONLY)
    opened = NameFiles(symbols, os.open(os.devnull, os.O_RDONLY))
    names = KernelNames(opened)
    names.name(range(0x1000, 0x1000 + count * 16, 16))
    opened.close()
    assert len(read(names.text).kernel_functions()) == count
    assert max(map(len, names.text.splitlines())) < 20_000


def test_hidden_addresses_are_not_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the kernel shows zeros, there is nothing to open, and no address."""
    hidden = tmp_path / "kallsyms"
    hidden.write_text("0000000000000000 T _text\n0000000000000000 T schedule\n")
    monkeypatch.setattr(kernel_names, "_SYMBOLS", str(hidden))
    assert NameFiles.open() is None
    assert "kernel_text" not in kernel_names.kernel_identity()
