"""``vestige symbolize``: function, file and line of addresses, without a trace."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator, Sequence

from ..._typing import TYPE_CHECKING
from ...plain_text import plain
from ..debug_info_arguments import add_debug_file_arguments, debug_file_options

if TYPE_CHECKING:
    from ...debuginfo import AnswerForm, Symbolized, Symbolizer
from ..exit_statuses import INTERRUPTED, READ, WRONG_USAGE, ExitStatuses

__all__ = ["SymbolizeCommand"]

ADDRESS = re.compile(r"(?:0[xX])?([0-9a-fA-F]{1,16})")
CHUNK = 1 << 18
"""Bytes of standard input that are looked up together, at most."""
LONGEST_LINE = 1 << 12
"""Bytes of a line of standard input; a longer one is no address."""


SYMBOLIZING = ExitStatuses(
    {
        READ: "every address was looked up, even if nothing is known about it",
        1: "the file or the process cannot be used, or a line of input is no address",
        WRONG_USAGE: "wrong usage",
        INTERRUPTED: "interrupted (Ctrl-C)",
    },
    failed=1,
)
"""As of addr2line."""


class SymbolizeCommand:
    """Answers for addresses."""

    name = "symbolize"
    description = (
        "Print the function, file and line of addresses in an ELF file or a running "
        "process, including inlined calls. Separate debug files are found in the same "
        "way as for traces. Without ADDRESS, read addresses from standard input, one a "
        "line, and answer each at once. An ADDRESS is hexadecimal, with or without 0x. "
        "With -f, -i, -a, -s or --pretty, the output is that of GNU addr2line."
    )
    examples = """\
examples:
  vestige symbolize -e /usr/bin/python3.11 0x5a1b20
  vestige symbolize -p 4242 7f3a12c4d0e5      an address in a running process
  vestige symbolize -v -e app 1234            and why names are missing
  addr2line -fiC -e app 1234                  these two print the same
  vestige symbolize -fiC -e app 1234
  vestige symbolize -e loop.ko.xz -j .text 2c4    an offset in a kernel module
  vestige symbolize --json -e app <addresses
"""
    exit_statuses = SYMBOLIZING

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument(
            "addresses",
            metavar="ADDRESS",
            nargs="*",
            help="a hexadecimal address (default: those on standard input)",
        )
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument(
            "-e",
            "--exe",
            metavar="FILE",
            help="an executable, library, object, kernel module or debug file",
        )
        what.add_argument(
            "-p",
            "--pid",
            metavar="PID",
            type=_pid,
            help="a running process (addr2line's -p is --pretty here)",
        )
        parser.add_argument(
            "--json",
            action="store_true",
            help="print one JSON object a line, with the reason for each missing name",
        )
        parser.add_argument(
            "-v", "--verbose", action="store_true", help="say why a name is missing"
        )
        parser.add_argument(
            "-j",
            "--section",
            metavar="NAME",
            help="addresses are offsets in this section; in a file that is not linked "
            "(.o, .ko), they are by default those in the first one that is so long",
        )
        add_debug_file_arguments(parser.add_argument_group("debug information"))
        same = parser.add_argument_group("output like GNU addr2line")
        for short, name, text in (
            ("-f", "--functions", "print function names"),
            ("-i", "--inlines", "print the callers of inlined functions as well"),
            ("-a", "--addresses", "print the address first"),
            ("-s", "--basenames", "print file names without directories"),
            ("-C", "--demangle", "print readable names instead of linker symbols"),
        ):
            name_of_value = f"with_{name[2:]}"
            same.add_argument(
                short, name, dest=name_of_value, action="store_true", help=text
            )
        same.add_argument(
            "--pretty",
            "--pretty-print",
            action="store_true",
            help="print each frame on one line",
        )
        parser.set_defaults(usage_error=parser.error)

    def run(self, options: argparse.Namespace) -> int:
        """Print an answer for each address."""
        if options.section is not None and options.exe is None:
            options.usage_error("-j needs a file (-e): a process has no sections")
        addresses = [_address(word) for word in options.addresses]
        for word, address in zip(options.addresses, addresses, strict=True):
            if address is None:
                options.usage_error(f"'{word}' is not a hexadecimal address")
        writer = _Writer(options)
        symbolizer = _symbolizer(options)
        if addresses:
            writer.write(symbolizer, addresses)
            status = 0
        else:
            status = _answer_input(symbolizer, writer)
        if options.verbose:
            for remark in symbolizer.remarks():
                print(f"vestige: {plain(remark)}", file=sys.stderr)
        return status


class _Writer:
    # Writes answers in the form that the options ask for.

    def __init__(self, options: argparse.Namespace) -> None:
        self._json = options.json
        self._demangle = not options.no_demangle
        self._verbose = options.verbose
        flags = (
            options.with_functions,
            options.with_inlines,
            options.with_addresses,
            options.with_basenames,
        )
        self._style: tuple[bool, bool, bool, bool, bool, bool] | None = None
        if any(flags) or options.pretty:
            readable = options.with_demangle and not options.no_demangle
            self._style = (*flags, readable, options.pretty)

    @property
    def form(self) -> AnswerForm:
        """The form of answers that are written as text at once."""
        from ...debuginfo import AnswerForm

        if self._json:
            return AnswerForm()
        if self._style is not None:
            return AnswerForm(addr2line=self._style)
        return AnswerForm(people=(self._demangle, self._verbose))

    def write(self, symbolizer: Symbolizer, addresses: Sequence[int | None]) -> None:
        """Look up addresses and write the answers; ``None`` is no address."""
        from ...debuginfo import answer_text

        known = [address for address in addresses if address is not None]
        answers = iter(symbolizer.look_up(known))
        texts = []
        for address in addresses:
            answer = _no_address() if address is None else next(answers)
            texts.append(answer_text(answer, self.form))
        _write(b"".join(texts))


def _no_address() -> Symbolized:
    from ...debuginfo import NO_ADDRESS, Symbolized

    return Symbolized(None, reason=NO_ADDRESS)


def _symbolizer(options: argparse.Namespace) -> Symbolizer:
    # Not for --help, which would wait for it.
    from pathlib import Path

    from ...debuginfo import (
        DebugFileFinder,
        FileSymbolizer,
        ProcessSymbolizer,
    )

    wanted = debug_file_options(options)
    if options.pid is None:
        return FileSymbolizer(options.exe, DebugFileFinder.of(wanted), options.section)
    from ...debuginfo import RunningProcess

    process = RunningProcess(options.pid)
    if process.root is not None and not wanted.target_prefixes:
        # The map has paths of its mount namespace, or of this one after a chroot.
        own = (("/proc", Path("/proc")), ("/", process.root), ("/", Path("/")))
        wanted = wanted._replace(target_prefixes=own)
    return ProcessSymbolizer(process, DebugFileFinder.of(wanted))


def _answer_input(symbolizer: Symbolizer, writer: _Writer) -> int:
    """Answer for each line of standard input as it comes; return the exit status."""
    descriptor = sys.stdin.fileno()
    if sys.stdin.isatty():
        print("addresses, one a line; end with Ctrl-D:", file=sys.stderr)
    bulk = symbolizer.text_answers(writer.form)
    number = 0
    status = 0
    for text in _texts_of(descriptor):
        answers = None if bulk is None else bulk.answer(text)
        if answers is None:
            bad = _answer_singly(symbolizer, writer, text)
        else:
            found, bad = answers
            _write(found)
            symbolizer.keep()
        if bad:
            status = 1
            _complain(text, bad, number)
        number += text.count(b"\n") + 1
    return status


def _write(answers: bytes) -> None:
    if sys.stdout.encoding.lower() == "utf-8":
        sys.stdout.flush()
        sys.stdout.buffer.write(answers)
    else:
        sys.stdout.write(answers.decode("utf-8", "replace"))
    sys.stdout.flush()


def _answer_singly(symbolizer: Symbolizer, writer: _Writer, text: bytes) -> list[int]:
    """Answer for each line; return the numbers, from 0, of those without address."""
    addresses = [_address(_decoded(line)) for line in text.split(b"\n")]
    writer.write(symbolizer, addresses)
    return [number for number, one in enumerate(addresses) if one is None]


def _complain(text: bytes, bad: Sequence[int], before: int) -> None:
    lines = text.split(b"\n")
    for index in bad:
        print(
            f"vestige: error: standard input, line {before + index + 1}: "
            f"{_decoded(lines[index])[:40]!r} is not a hexadecimal address",
            file=sys.stderr,
        )


def _texts_of(descriptor: int) -> Iterator[bytes]:
    """Yield the lines that are there, without waiting for more of them."""
    rest = b""
    while chunk := os.read(descriptor, CHUNK):
        text, newline, rest = (rest + chunk).rpartition(b"\n")
        rest = rest[:LONGEST_LINE]
        if newline:
            yield text
    if rest:
        yield rest


def _decoded(line: bytes) -> str:
    return line.decode("ascii", "replace").strip()


def _address(word: str) -> int | None:
    match = ADDRESS.fullmatch(word)
    return None if match is None else int(match[1], 16)


def _pid(word: str) -> int:
    if not word.isascii() or not word.isdecimal():
        raise argparse.ArgumentTypeError(
            f"'{word}' is not a process ID (for addr2line's -p, see --pretty)"
        )
    return int(word)
