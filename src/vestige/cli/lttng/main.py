"""``vestige lttng``, and ``lttng`` where its launcher is installed."""

from __future__ import annotations

import os
import sys

from ..._typing import TYPE_CHECKING
from ...errors import SessionError, VestigeError
from ...plain_text import plain
from .call import FAILED, UNDEFINED, Call, FailedError, General
from .options import Option, OptionError, Words, parse
from .verbs import GENERAL, NOT_YET, VERBS, load_verb

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["run"]

MI_NOT_SUPPORTED = 165
"""The exit status of a machine interface that is no XML."""


def run(words: Sequence[str]) -> int:
    """Run a command line.

    Args:
        words: What follows ``lttng``.

    Returns:
        The exit status.
    """
    try:
        general = parse(words, GENERAL, is_verb_next=True)
    except OptionError as error:
        print(f"lttng: unrecognized option '{error}'", file=sys.stderr)
        return FAILED
    if (status := _about(general)) is not None:
        return status
    settings = _general(general)
    if settings is None:
        print("Error: MI output format not supported", file=sys.stderr)
        return MI_NOT_SUPPORTED
    if not general.arguments:
        # Programs are told nothing, as by LTTng.
        if not general.has("mi") and not general.has("quiet"):
            from .help_text import general_help

            print(general_help(), end="")
        return FAILED
    name, *rest = general.arguments
    if name not in VERBS and name not in NOT_YET:
        print(f"lttng: {plain(name)} is not an lttng command. See 'lttng --help'.")
        return UNDEFINED
    return (_refuse if name in NOT_YET else _run_verb)(name, settings, rest)


def _refuse(name: str, general: General, rest: list[str]) -> int:  # noqa: ARG001 - as _run_verb
    """Say of a command of LTTng that there is none yet."""
    call = Call(_MI_NAMES.get(name, name), general, Words({}, []))
    call.emit_failure()
    call.error(f"'{name}' is not supported yet.")
    return FAILED


_MI_NAMES = {"list-triggers": "list-trigger"}
"""What the schema calls commands, where it has another name."""


def _about(general: Words) -> int | None:
    """Answer options that need no verb."""
    if general.has("version"):
        from .reading_verbs import version

        return version(Call("version", General(), Words({}, [])))
    if general.has("help"):
        from .help_text import general_help

        print(general_help(), end="")
        return 0
    if general.has("list-commands"):
        print("\n".join(VERBS))
        return 0
    if general.has("list-options"):
        _list_options(GENERAL)
        return 0
    return None


def _list_options(options: Sequence[Option]) -> None:
    for one in options:
        print(f"--{one.name}")
        if one.short:
            print(f"-{one.short}")


def _general(words: Words) -> General | None:
    interface = words.value("mi")
    if interface is not None and interface.lower() != "xml":
        return None
    return General(
        words.value("group") or "tracing",
        interface is not None,
        words.has("quiet"),
        not words.has("no-sessiond"),
        words.value("sessiond-path"),
    )


def _run_verb(  # noqa: PLR0911 - each ending has its own status
    name: str, general: General, rest: list[str]
) -> int:
    function, options = load_verb(name)
    try:
        words = (_left_alone if VERBS[name].reads_words else parse)(rest, options)
    except OptionError as error:
        call = Call(_MI_NAMES.get(name, name), general, Words({}, []))
        call.emit_failure()
        if name in _NAME_UNKNOWN_OPTIONS:
            number = 2 + rest.index(str(error)) if str(error) in rest else 2
            call.error(
                f"While parsing argument #{number} (`{error}`): Unknown option "
                f"`{error}`"
            )
            return FAILED
        call.error(f"Unrecognized argument used with '{name}' command")
        return UNDEFINED
    if words.has("help"):
        from .help_text import verb_help

        print(verb_help(name), end="")
        return 0
    if words.has("list-options"):
        _list_options(options)
        return 0
    call = Call(_MI_NAMES.get(name, name), general, words)
    try:
        return function(call)
    except FailedError as error:
        call.emit_failure()
        for line in (error.message or "").splitlines():
            call.error(line)
        return error.status
    except SessionError as error:
        call.emit_failure()
        # The sentence of an unknown error says nothing.
        has_detail = error.name == "UNKNOWN" and error.detail
        call.error(f"{error.message}: {error.detail}" if has_detail else error.message)
        is_plain = name == "create" or error.name in _ALWAYS_FAILED
        return FAILED if is_plain else error.status
    except BrokenPipeError:
        raise
    except (VestigeError, OSError) as error:
        call.emit_failure()
        call.error(_text(error))
        return FAILED
    finally:
        call.close()


def _text(error: VestigeError | OSError) -> str:
    """Return what an error says, without the system's number of it."""
    if isinstance(error, OSError) and error.strerror is not None:
        if error.filename is None:
            return error.strerror
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    return str(error)


def _left_alone(words: Sequence[str], options: Sequence[Option]) -> Words:
    """Return words for a verb that reads them itself, but for what is of all verbs."""
    del options
    asked = {"-h": "help", "--help": "help", "--list-options": "list-options"}
    return Words({asked[one]: [None] for one in words if one in asked}, [*words])


_NAME_UNKNOWN_OPTIONS = {"list-triggers", "remove-trigger"}
"""Verbs that say which option they do not know."""
_ALWAYS_FAILED = {"NO_SESSIOND", "EXIST_SESS", "SESSION_INVALID_CHAR"}
"""Refusals whose number is not the exit status, as none is of ``create``."""
