"""Patterns of functions that match nothing of what was recorded, and what was meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import CodeType

from ..analysis.function_choice import FunctionPattern, is_address_range
from ..analysis.function_names import plain_names
from ..core import demangle
from ..errors import RecordError
from ..inspect.elf import DYNAMIC_SYMBOLS, SYMBOLS, open_elf
from ..inspect.hooks import hooks_of
from ..inspect.python_detection import has_python
from ..record.rules.options import RecordingOptions
from ..record.summary.contents import Contents
from .suggestions import did_you_mean

__all__ = ["unmatched_functions"]

LARGEST_SCRIPT = 4 << 20
"""Bytes of a Python program that is compiled to know its functions."""
_Functions = dict[str, set[str]]
"""Names of the functions in each object."""


def unmatched_functions(
    command: Sequence[str], options: RecordingOptions, contents: Contents
) -> Iterator[str]:
    """Say which patterns match no function that could have been recorded.

    Args:
        command: The program and its arguments.
        options: What was asked for.
        contents: What the recording holds.

    Yields:
        Lines for people, one for each pattern. None where nobody knows, as of large
        recordings, and of Python functions unless all patterns together took none.
    """
    patterns = [("include", one) for one in options.include]
    patterns += [("exclude", one) for one in options.exclude]
    wanted = [(kind, one) for kind, one in patterns if not is_address_range(one)]
    if not wanted or not contents.objects:
        return
    if options.python_functions is not None and has_python(contents.objects):
        found = {} if contents.has_calls else _script_functions(command)
        wanted = [(kind, one) for kind, one in wanted if kind == "include"]
    else:
        found = _instrumented_functions(contents.objects)
    if not found:
        return
    where = ", ".join(Path(path).name for path in found)
    names = {
        name
        for known in found.values()
        for name in known
        # What people write: no parameters, no linkage names.
        if "(" not in name and not name.startswith("_Z")
    }
    for kind, text in wanted:
        pattern = FunctionPattern(text)
        if any(pattern.matches(known, path) for path, known in found.items()):
            continue
        hint = did_you_mean(pattern.name.strip("*?"), names)
        yield f"no function of {where} matches --{kind}-function='{text}'{hint}"


def _instrumented_functions(objects: Iterable[str]) -> _Functions:
    """Read the symbols of what a compiler has instrumented."""
    found = {}
    for path in objects:
        if path.startswith("/") and hooks_of(path) == "called":
            names = set(_symbols(Path(path)))
            if not names:
                # It was stripped: nobody knows what it has.
                return {}
            found[path] = names
    return found


def _symbols(path: Path) -> Iterator[str]:
    try:
        with open_elf(path) as image:
            for kind in (DYNAMIC_SYMBOLS, SYMBOLS):
                for symbol in image.symbols(kind):
                    if symbol.is_function and symbol.is_defined:
                        name = symbol.name.decode(errors="replace")
                        yield name
                        yield from plain_names(demangle(name) or name)
    except RecordError:
        return


def _script_functions(command: Sequence[str]) -> _Functions:
    """Compile the script of a Python program."""
    for word in command:
        path = Path(word)
        try:
            if path.suffix == ".py" and path.stat().st_size <= LARGEST_SCRIPT:
                code = compile(path.read_bytes(), word, "exec", dont_inherit=True)
                names = set(_code_names(code))
                return {word: names | {f"__main__.{name}" for name in names}}
        except (OSError, SyntaxError, ValueError):
            continue
    return {}


def _code_names(code: CodeType) -> Iterator[str]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant.co_qualname
            yield from _code_names(constant)
