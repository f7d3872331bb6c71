"""Make what is generated from ``tracer/agreement``: what recorder and tracer agree on.

    python tools/make_agreement.py [--check]

It writes C headers, Python modules and Rust modules. They are committed, so that a build needs
no Python of ours; with ``--check`` nothing is written, and files that are not current are an error.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tracer"))

from agreement import (  # noqa: E402
    arena,
    contexts,
    events,
    files,
    filters,
    packet,
    plan,
    probes,
    registration,
    settings,
    skipped,
)
from agreement.c_header import (  # noqa: E402
    arena_header,
    c_header,
    plan_header,
    registration_header,
)
from agreement.python_modules import (  # noqa: E402
    expressions_module,
    record_module,
    registration_module,
)
from agreement.rust_module import (  # noqa: E402
    arena_module,
    filter_module,
    plan_module,
)

HEADER = Path("tracer/agreement/agreement.h")
ARENA_HEADER = Path("tracer/agreement/arena.h")
PLAN_HEADER = Path("tracer/agreement/plan.h")
REGISTRATION_HEADER = Path("tracer/agreement/registration.h")
DIGITS = 16


def fingerprint() -> str:
    """Return hexadecimal digits that change with the agreement, and not with remarks on it."""
    parts = (
        packet,
        events,
        contexts,
        filters,
        files,
        arena,
        settings,
        skipped,
        registration,
        plan,
        probes,
    )
    digest = hashlib.sha256()
    for part in parts:
        for name in part.__all__:
            value = getattr(part, name)
            if not callable(value):
                digest.update(f"{part.__name__}.{name} = {value!r}\n".encode())
    return digest.hexdigest()[:DIGITS]


def made() -> dict[Path, str]:
    """Return the text of each file, by its path below the repository."""
    mark = fingerprint()
    return {
        HEADER: c_header(mark),
        ARENA_HEADER: arena_header(),
        PLAN_HEADER: plan_header(),
        REGISTRATION_HEADER: registration_header(),
        Path("src/vestige/record/_agreement.py"): formatted(record_module(mark)),
        Path("src/vestige/expressions/_agreement.py"): formatted(expressions_module()),
        Path("src/vestige/record/backends/registered/_agreement.py"): formatted(
            registration_module()
        ),
        Path("crates/vestige-ctf/src/filter/agreement.rs"): filter_module(),
        Path("crates/vestige-collector/src/agreement.rs"): arena_module(),
        Path("crates/vestige-plan/src/agreement.rs"): plan_module(),
    }


def formatted(text: str) -> str:
    """Return a Python module as the formatter leaves it."""
    command = [sys.executable, "-m", "ruff", "format", "-q", "-"]
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, check=True, cwd=ROOT
    )
    return done.stdout


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files, or compare them; return 1 if any is not current."""
    parser = argparse.ArgumentParser(
        description="Make what tracer/agreement describes."
    )
    parser.add_argument("--check", action="store_true", help="write nothing")
    is_check: bool = parser.parse_args(arguments).check
    status = 0
    for path, text in made().items():
        place = ROOT / path
        if place.is_file() and place.read_text(encoding="utf-8") == text:
            continue
        if is_check:
            print(
                f"{path} is not what tracer/agreement describes: run 'make agreement'"
            )
            status = 1
        else:
            place.write_text(text, encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
