"""The help of session verbs, made of their options."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .call import DONE, Call, FailedError
from .options import OPTIONAL, Option
from .verbs import GENERAL, VERBS, load_verb

__all__ = ["general_help", "help_", "verb_help"]

WIDEST = 28
"""Columns of options, before what they do."""


def help_(call: Call) -> int:
    """Describe a verb, or all."""
    for name in call.words.arguments[:1]:
        if name not in VERBS:
            raise FailedError(2, f"{name} is not a command of lttng")
        print(verb_help(name), end="")
        return DONE
    print(general_help(), end="")
    return DONE


def general_help() -> str:
    """Return the help of all verbs."""
    lines = [
        "usage: vestige lttng [OPTIONS] COMMAND [OPTIONS] [ARGUMENTS]",
        "",
        "Control what running programs record, with the commands of LTTng 2.13.",
        "",
        "commands:",
        *(f"  {name:<{WIDEST}}{verb.about}" for name, verb in VERBS.items()),
        "",
        "options:",
        *_option_lines(GENERAL),
    ]
    return "\n".join(lines) + "\n"


def verb_help(name: str) -> str:
    """Return the help of a verb.

    Args:
        name: The verb.
    """
    verb = VERBS[name]
    _, options = load_verb(name)
    usage = f"usage: vestige lttng {name} [OPTIONS] {verb.arguments}".rstrip()
    about = verb.about[0].upper() + verb.about[1:]
    lines = [usage, "", f"{about}.", "", "options:", *_option_lines(options)]
    return "\n".join(lines) + "\n"


def _option_lines(options: Iterable[Option]) -> Iterator[str]:
    for one in options:
        names = f"-{one.short}, --{one.name}" if one.short else f"    --{one.name}"
        if one.metavar:
            value = f"={one.metavar}"
            names += f"[{value}]" if one.value == OPTIONAL else value
        about = one.about
        if len(names) >= WIDEST:
            yield f"  {names}"
            names = ""
        yield f"  {names:<{WIDEST}}{about}"
