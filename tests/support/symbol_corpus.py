"""The programs of `tests/programs/symbols`, built in many ways.

Not each combination of compiler, level of optimisation and format, but each value of them
at least once, and those together that change what is in an object.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from support.compilers import PROGRAMS, BuildError, run_tool
from vestige import core

SOURCES = PROGRAMS / "symbols"
C_SOURCES = ("program.c", "other.c", "assembly.S")
CXX_SOURCES = ("program.cpp",)
NATIVE_C = (*C_SOURCES, "-DWITH_IFUNC")


@dataclass(frozen=True)
class Variant:
    """A way to build an object."""

    name: str
    command: tuple[str, ...]
    """Compiler and options; names of files in `tests/programs/symbols` become paths."""

    machine: str = ""
    """The prefix of the binary tools for its machine."""

    after: tuple[tuple[str, ...], ...] = ()
    """Commands to run then; `{}` is the object, `{0}` its copy before them."""

    peers_see_copy: bool = False
    """Whether the peers read the copy, since they lack what `after` does."""

    peers_see_without: str = ""
    """An option that changes no code; the peers read an object made without it."""

    @property
    def tools(self) -> set[str]:
        """Return the programs it needs."""
        linkers = {
            f"ld.{word.rpartition('=')[2]}"
            for word in self.command
            if word.startswith("-fuse-ld=")
        }
        peers = {f"{self.machine}objdump", f"{self.machine}addr2line"}
        return {self.command[0], *linkers, *(words[0] for words in self.after), *peers}


@dataclass(frozen=True)
class Built:
    """An object that was built."""

    variant: Variant
    object: Path
    peer_object: Path
    debug_file: Path | None = None
    """The separate debug file, where there is one."""


@dataclass
class Corpus:
    """What could be built, and what not."""

    built: list[Built] = field(default_factory=list)
    missing: dict[str, set[str]] = field(default_factory=dict)
    """Tools that are not installed, with the variants that need them."""

    failed: dict[str, str] = field(default_factory=dict)
    """Variants whose commands fail, with what they said."""


SYSTEM_OBJECTS = {
    "libc6-dbg": Path("/lib/x86_64-linux-gnu/libc.so.6"),
    "python3.11-dbg": Path("/usr/bin/python3.11"),
    "ld.so of libc6-dbg": Path("/lib64/ld-linux-x86-64.so.2"),
}
"""Objects of the system whose debug files come in packages of their own."""


def add_system_objects(corpus: Corpus, directory: Path) -> None:
    """Add the objects of the system whose debug files are installed."""
    for package, path in SYSTEM_OBJECTS.items():
        variant = Variant(package, ())
        build_id = core.ObjectFile.open(path).build_id if path.is_file() else None
        digits = (build_id or b"").hex()
        debug = directory / ".build-id" / digits[:2] / f"{digits[2:]}.debug"
        if debug.is_file():
            corpus.built.append(Built(variant, path, path, debug))
        else:
            corpus.missing.setdefault(package, set()).add(package)


def build_corpus(directory: Path, variants: Iterable[Variant]) -> Corpus:
    """Build objects, several at a time."""
    corpus = Corpus()
    wanted = []
    for variant in variants:
        absent = {tool for tool in variant.tools if shutil.which(tool) is None}
        for tool in absent:
            corpus.missing.setdefault(tool, set()).add(variant.name)
        if not absent:
            wanted.append(variant)

    def build(variant: Variant) -> Built | str:
        try:
            return _build(variant, directory / variant.name)
        except BuildError as error:
            return str(error)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for variant, result in zip(wanted, pool.map(build, wanted), strict=True):
            if isinstance(result, str):
                corpus.failed[variant.name] = result
            else:
                corpus.built.append(result)
    return corpus


def _build(variant: Variant, directory: Path) -> Built:
    directory.mkdir(parents=True)
    output, copy = directory / "object", directory / "copy"
    words = [_word(word) for word in variant.command]
    run_tool([*words, "-o", output], directory)
    if variant.after:
        shutil.copy(output, copy)
    for command in variant.after:
        places = [word.format(output, 0, copy=copy) for word in command]
        run_tool(places, directory)
    if variant.peers_see_without:
        words.remove(variant.peers_see_without)
        run_tool([*words, "-o", copy], directory)
        return Built(variant, output, copy)
    return Built(variant, output, copy if variant.peers_see_copy else output)


def _word(word: str) -> str:
    path = SOURCES / word
    return str(path) if path.suffix and path.is_file() else word


def _variants(
    prefix: str, compiler: str, sources: Sequence[str], options: Iterable[str]
) -> list[Variant]:
    found = []
    for text in options:
        words = tuple(text.split())
        name = "-".join(word.strip("-").replace("=", "-") for word in words)
        found.append(Variant(f"{prefix}-{name}", (compiler, *words, *sources)))
    return found


def _with_steps(
    variant: Variant, name: str, *steps: str, peers_see_copy: bool = False
) -> Variant:
    after = tuple(tuple(step.split()) for step in steps)
    return replace(
        variant,
        name=f"{variant.name}-{name}",
        after=after,
        peers_see_copy=peers_see_copy,
    )


def _c() -> list[Variant]:
    both = ["-O0 -g", "-O2 -g", "-O3 -g", "-Os -g3", "-O2 -g1"]
    versions = [f"-O2 -gdwarf-{version}" for version in (2, 3, 4, 5)]
    gcc = [
        "-Og -g -no-pie",
        "-O2 -g -shared -fPIC",
        "-O2 -g -static",
        "-O2 -g -static-pie",
        "-O2 -g -ffunction-sections -Wl,--gc-sections",
        "-O2 -g -flto",
        "-O2 -g -fuse-ld=lld",
        "-O2 -g -fuse-ld=mold",
        "-O2 -g -shared -fPIC -fuse-ld=lld",
        "-O2 -g -shared -fPIC -Wl,-Ttext-segment=0x41000000",
        "-O2 -g -Wl,-z,noseparate-code",
        "-O2 -gdwarf64 -gdwarf-5",
        "-O2 -g -gz=zlib",
        "-O2 -g -gz=zlib-gnu",
        "-O1 -g -fdebug-types-section",
        "-O2 -g -mno-red-zone -fcf-protection -Wl,-z,ibtplt",
        "-O2 -g0",
    ]
    clang = [
        "-O2 -g -no-pie -fuse-ld=lld",
        "-O2 -g -shared -fPIC -fuse-ld=mold",
        "-O2 -g -flto -fuse-ld=lld",
        "-O2 -g -ffunction-sections -fuse-ld=lld -Wl,--gc-sections,--icf=all",
        "-O2 -gline-tables-only",
    ]
    stripped = Variant("c-gcc-stripped", ("gcc", "-O2", "-g", "-rdynamic", *NATIVE_C))
    zstd = Variant("c-gcc-zstd", ("gcc", "-O2", "-g", *NATIVE_C))
    compress = "objcopy --compress-debug-sections=zstd {}"
    return [
        *_variants("c-gcc", "gcc", NATIVE_C, [*both, *versions, *gcc]),
        *_variants("c-clang", "clang", NATIVE_C, [*both, *versions, *clang]),
        _with_steps(stripped, "dynsym", "strip {}"),
        _with_steps(zstd, "objcopy", compress, peers_see_copy=True),
    ]


def _cxx() -> list[Variant]:
    both = ["-O0 -g", "-O2 -g", "-O2 -gdwarf-4 -fdebug-types-section"]
    gcc = ["-O3 -g3", "-Os -gdwarf-3", "-O2 -g -flto", "-O1 -g -static", "-O2 -g0"]
    clang = ["-Os -g -flto -fuse-ld=lld", "-O3 -gdwarf-5 -fuse-ld=mold"]
    sources = ("-std=c++17", *CXX_SOURCES)
    return [
        *_variants("cpp-gcc", "g++", sources, [*both, *gcc]),
        *_variants("cpp-clang", "clang++", sources, [*both, *clang]),
    ]


def _rust() -> list[Variant]:
    options = [
        "-g",
        "-O -g",
        "-O -g -Csymbol-mangling-version=v0",
        "-O -Cdebuginfo=1 -Clto=fat",
    ]
    return _variants("rust", "rustc", ("--edition=2021", "program.rs"), options)


def _other_machines() -> list[Variant]:
    found = []
    for machine in ("aarch64", "powerpc64le", "powerpc", "i686"):
        prefix = f"{machine}-linux-gnu-"
        options = ["-O2 -g", "-O0 -gdwarf-4"]
        made = _variants(f"c-{machine}", f"{prefix}gcc", C_SOURCES, options)
        found += [replace(one, machine=prefix) for one in made]
    return found


def _separated() -> list[Variant]:
    cxx = ("-std=c++17", *CXX_SOURCES)
    split = [
        *_variants("c-gcc", "gcc", NATIVE_C, ["-O2 -g -gsplit-dwarf"]),
        *_variants("cpp-gcc", "g++", cxx, ["-O2 -g -gsplit-dwarf"]),
        *_variants("c-clang", "clang", NATIVE_C, ["-O2 -g -gsplit-dwarf"]),
        *_variants("cpp-clang", "clang++", cxx, ["-O2 -gdwarf-4 -gsplit-dwarf"]),
    ]
    old = _variants("c-gcc", "gcc", NATIVE_C, ["-O2 -gdwarf-4 -gsplit-dwarf"])
    delete = "find . -name *.dwo -delete"
    packed = [
        *(_with_steps(one, "dwp", "dwp -e {} -o {}.dwp", delete) for one in old),
        *(
            _with_steps(one, "dwp", "llvm-dwp -e {} -o {}.dwp", delete)
            for one in split[2:]
        ),
    ]
    plain = Variant("c-gcc-O2-g", ("gcc", "-O2", "-g", *NATIVE_C))
    shapes = Variant("cpp-gcc-O2-g", ("g++", "-O2", "-g", *cxx))
    share = "dwz -m {}.sup {} other"
    return [
        *(
            replace(one, peers_see_without="-gsplit-dwarf")
            for one in (*split, *old, *packed)
        ),
        *(
            _with_steps(one, "dwz-m", "cp {} other", share, peers_see_copy=True)
            for one in (plain, shapes)
        ),
        _with_steps(plain, "dwz", "dwz {}"),
    ]


VARIANTS = (
    *_c(),
    *_cxx(),
    *_rust(),
    *_variants("d", "gdc", ("program.d",), ["-O2 -g", "-O0 -g"]),
    *_other_machines(),
    *_separated(),
)
"""All ways to build the programs."""
