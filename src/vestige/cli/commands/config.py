"""``vestige config``: what compilers need to build programs with tracepoints."""

from __future__ import annotations

import argparse
import re

from ... import __version__
from ...errors import CommandError, RecordError
from ..exit_statuses import PLAIN

__all__ = ["ConfigCommand"]

_FOR_THE_SHELL = re.compile(r"[^\w@%+=:,./-]", re.ASCII)


class ConfigCommand:
    """Prints flags, as pkg-config(1) does."""

    name = "config"
    description = (
        "Print the flags that a C or C++ compiler needs to build a program with "
        "tracepoints, on one line. The headers have the names and macros of LTTng-UST "
        "2.13, so programs written for it compile unchanged. Nothing of Vestige is "
        "linked by these flags. With -llttng-ust, a program also joins the sessions of "
        "'vestige lttng': an object is linked that loads the tracer where a session "
        "daemon is."
    )
    examples = """\
examples:
  cc -c $(vestige config --cflags) hello.c hello-tp.c
  cc -o hello hello.o hello-tp.o $(vestige config --libs)
  make CPPFLAGS="$(vestige config --cflags)" LDFLAGS="$(vestige config --libs)"
  PKG_CONFIG_PATH=$(vestige config --pkg-config-path) pkg-config --cflags vestige
"""
    exit_statuses = PLAIN

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        for option, text in (
            ("--cflags", "print compiler flags"),
            ("--libs", "print linker flags: -ldl, and where to find -llttng-ust"),
            ("--prefix", "print the directory of headers, libraries and the tracer"),
            ("--pkg-config-path", "print the directory of vestige.pc and lttng-ust.pc"),
            ("--version", "print the version of Vestige"),
        ):
            parser.add_argument(option, action="store_true", help=text)
        parser.set_defaults(usage_error=parser.error)

    def run(self, options: argparse.Namespace) -> int:
        """Print the words that were asked for."""
        from ...record.development import (
            compile_flags,
            link_flags,
            native_directory,
            pkg_config_directory,
        )

        words: list[str] = []
        try:
            if options.version:
                words.append(__version__)
            if options.prefix:
                words.append(str(native_directory()))
            if options.pkg_config_path:
                words.append(str(pkg_config_directory()))
            if options.cflags:
                words += compile_flags()
            if options.libs:
                words += link_flags()
        except RecordError as error:
            raise CommandError(str(error)) from error
        if not words:
            options.usage_error("what is asked for? Try --cflags --libs")
        print(*(_FOR_THE_SHELL.sub(r"\\\g<0>", word) for word in words))
        return 0
