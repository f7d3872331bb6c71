"""Command lines of ``vestige record`` that need no parser: most of them.

To import :mod:`argparse` and make all options takes longer than many programs run.
Options that choose one thing or have one value are read here. Whatever else there is,
and each mistake, is the parser's: it says what is wrong. A test compares both.
"""

from __future__ import annotations

from .._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

__all__ = ["DEFAULTS", "PlainOptions", "plain_options"]

DEFAULTS: dict[str, Any] = {
    "arena_size": None,
    "buffer_size": "4M",
    "context": "ip,vpid",
    "entries": False,
    "event": (),
    "duration": None,
    "exclude_function": (),
    "follow_fork": True,
    "functions": None,
    "has_loggers": False,
    "helpers": (),
    "include_function": (),
    "inherit_socket": False,
    "keep": None,
    "keep_lttng": False,
    "kernel": (),
    "kernel_context": (),
    "kernel_filter": None,
    "kernel_logger": None,
    "kernel_of": "machine",
    "kernel_probe": (),
    "library_calls": None,
    "live": None,
    "max_depth": None,
    "max_size": None,
    "min_duration": None,
    "mode": "block",
    "old_names": (),
    "only_my_code": False,
    "output": None,
    "patch": None,
    "patch_in": (),
    "patch_wait": 0.2,
    "pids": (),
    "probe": (),
    "python_arguments": False,
    "python_functions": None,
    "python_gc": False,
    "python_tracebacks": False,
    "quiet": False,
    "recover": None,
    "rotate": None,
    "session": None,
    "snapshot_on_crash": False,
    "timeout": 10.0,
    "to": None,
}
"""What options say that are not given; lists are tuples here."""

_SETTINGS: dict[str, tuple[str, Any]] = {
    "--entries": ("entries", True),
    "--follow-fork": ("follow_fork", True),
    "--functions=fast": ("functions", "fast"),
    "--functions=off": ("functions", "off"),
    "--functions=verbose": ("functions", "verbose"),
    "--inherit-socket": ("inherit_socket", True),
    "--keep-lttng": ("keep_lttng", True),
    "--mode=block": ("mode", "block"),
    "--mode=discard": ("mode", "discard"),
    "--mode=overwrite": ("mode", "overwrite"),
    "--no-follow-fork": ("follow_fork", False),
    "--only-my-code": ("only_my_code", True),
    "--python-arguments": ("python_arguments", True),
    "--python-functions=all": ("python_functions", "all"),
    "--python-functions=python": ("python_functions", "python"),
    "--python-gc": ("python_gc", True),
    "--python-tracebacks": ("python_tracebacks", True),
    "--quiet": ("quiet", True),
    "--snapshot-on-crash": ("snapshot_on_crash", True),
    "-q": ("quiet", True),
}
"""What words say that need no other word."""

_HELPERS = {"--dl": "dl", "--libc": "libc", "--pthread": "pthread"}

_VALUES = {
    "--arena-size": "arena_size",
    "--buffer-size": "buffer_size",
    "--max-size": "max_size",
    "--output": "output",
    "-o": "output",
}
_CONTEXTS = ("--context", "-c")
_PATTERNS = {
    "--exclude-function": "exclude_function",
    "--include-function": "include_function",
}


class PlainOptions:
    """The options of a command line, as the parser would give them.

    Args:
        values: Their values by name, with those that are not given.
        program: The program and its arguments.
    """

    def __init__(self, values: dict[str, Any], program: Sequence[str]) -> None:
        vars(self).update(values)
        self.program, *self.arguments = program

    def __getattr__(self, name: str) -> Any:
        """There is nothing else; for type checkers, all is here."""
        raise AttributeError(name)


def plain_options(words: Sequence[str]) -> PlainOptions | None:
    """Read a command line.

    Args:
        words: What follows ``vestige record``.

    Returns:
        The options; ``None`` when it is for the parser.
    """
    values = dict(DEFAULTS)
    left = iter(words)
    program = _read_options(left, values)
    # The parser has rules of its own for a second one.
    if not program or "--" in program:
        return None
    return PlainOptions(values, program)


def _read_options(left: Iterator[str], values: dict[str, Any]) -> list[str] | None:
    """Read the options; return the program and its arguments."""
    for word in left:
        if word == "--":
            return [*left]
        if not word.startswith("-"):
            return [word, *left]
        if word in _SETTINGS:
            name, value = _SETTINGS[word]
            values[name] = value
        elif word in _HELPERS:
            values["helpers"] += (_HELPERS[word],)
        elif not _read_value(word, left, values):
            return None
    return None


def _read_value(word: str, left: Iterator[str], values: dict[str, Any]) -> bool:
    """Read an option with a value; tell whether it is one."""
    option, sign, value = word.partition("=")
    if not option.startswith("--") and sign:
        return False
    is_known = option in _VALUES or option in _CONTEXTS or option in _PATTERNS
    if not is_known:
        return False
    if not sign:
        value = next(left, "")
    if not value or value.startswith("-"):
        return False
    if option in _VALUES:
        values[_VALUES[option]] = value
    elif option in _PATTERNS:
        values[_PATTERNS[option]] += (value,)
    else:
        before = values["context"]
        is_first = before is DEFAULTS["context"]
        values["context"] = value if is_first else f"{before},{value}"
    return True
