"""``vestige gen-tp``: a tracepoint provider from a template."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from ..._typing import NamedTuple
from ...errors import CommandError, RecordError
from ...plain_text import plain
from ..exit_statuses import PLAIN

__all__ = ["GenTpCommand"]

SUFFIXES = (".h", ".c", ".o")


class GenTpCommand:
    """Writes header, source and object file of a provider."""

    name = "gen-tp"
    description = (
        "Make the header, source and object file of a tracepoint provider from "
        "TEMPLATE.tp, as lttng-gen-tp does. The template holds only definitions such "
        "as LTTNG_UST_TRACEPOINT_EVENT(). The compiler is $CC, or else cc, gcc or "
        "clang; it gets $CPPFLAGS and $CFLAGS."
    )
    examples = """\
examples:
  vestige gen-tp sample.tp                 sample.h, sample.c and sample.o
  vestige gen-tp -o tp.h -o tp.c sample.tp only these two
  CFLAGS=-fPIC vestige gen-tp -v sample.tp
"""
    exit_statuses = PLAIN

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument(
            "templates",
            metavar="TEMPLATE",
            nargs="+",
            type=Path,
            help="tracepoint definitions, usually NAME.tp",
        )
        parser.add_argument(
            "-o",
            "--output",
            metavar="FILE",
            type=Path,
            action="append",
            default=[],
            help="make only this .h, .c or .o file (repeatable; default: all three, "
            "named after the template)",
        )
        parser.add_argument(
            "-v", "--verbose", action="store_true", help="print each step"
        )
        parser.set_defaults(usage_error=parser.error)

    def run(self, options: argparse.Namespace) -> int:
        """Make the files."""
        if options.output and len(options.templates) > 1:
            options.usage_error("-o goes with one template")
        for output in options.output:
            if output.suffix not in SUFFIXES:
                options.usage_error(f"-o {output}: expected a name in .h, .c or .o")
        for template in options.templates:
            if not options.output and template.suffix in SUFFIXES:
                options.usage_error(f"{template}: expected a template, NAME.tp")
            try:
                _make(template, options.output, is_verbose=options.verbose)
            except RecordError as error:
                raise CommandError(str(error)) from error
            except OSError as error:
                path = error.filename or template
                raise CommandError(f"{path}: {error.strerror}") from error
            except UnicodeDecodeError as error:
                raise CommandError(f"{template}: no text in UTF-8") from error
        return 0


class _Files(NamedTuple):
    """What is made of a template, and what that needs."""

    header: Path
    source: Path
    object_file: Path


def _make(template: Path, outputs: list[Path], *, is_verbose: bool) -> None:
    from ...record.provider_template import header_text, source_text

    chosen = {output.suffix: output for output in outputs}
    # What is not made is expected next to what is.
    base = outputs[0] if outputs else template
    files = _Files(*(chosen.get(end, base.with_suffix(end)) for end in SUFFIXES))
    text = template.read_text(encoding="utf-8")
    wanted = chosen or SUFFIXES
    if ".h" in wanted:
        _write(files.header, header_text(text, template, files.header), is_verbose)
    if ".c" in wanted:
        made = source_text(template, files.source, files.header)
        _write(files.source, made, is_verbose)
    if ".o" in wanted:
        _compile(files, is_verbose=is_verbose)


def _write(path: Path, text: str, is_verbose: bool) -> None:  # noqa: FBT001 - private
    path.write_text(text, encoding="utf-8")
    if is_verbose:
        print(f"vestige: {plain(str(path))}", file=sys.stderr)


def _compile(files: _Files, *, is_verbose: bool) -> None:
    import shlex
    import subprocess

    from ...record.development import compile_flags
    from ..live_demo import compiler

    found = compiler()
    if found is None:
        raise CommandError("no C compiler: set CC, or install gcc")
    command = [
        *found,
        "-c",
        *shlex.split(os.environ.get("CPPFLAGS", "")),
        *shlex.split(os.environ.get("CFLAGS", "")),
        *compile_flags(),
        f"-I{files.header.parent}",
        "-I.",
        "-o",
        str(files.object_file),
        str(files.source),
    ]
    if is_verbose:
        print(f"vestige: {plain(shlex.join(command))}", file=sys.stderr)
    done = subprocess.run(command, check=False)
    if done.returncode != 0:
        raise CommandError(f"{files.source}: the compiler failed, see above")
