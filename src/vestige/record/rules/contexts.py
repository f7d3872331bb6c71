"""Contexts: what event records may tell of their thread and process.

Names and types are those of LTTng-UST, see lttng-add-context(1), but for addresses of
code, which have 48 bits.
"""

from __future__ import annotations

from ..._suppress import suppress
from ..._typing import TYPE_CHECKING, NamedTuple
from ...errors import SelectionError
from .. import _agreement
from .._agreement import (
    APPLICATION_FIELDS,
    APPLICATION_PREFIX,
    COUNTER_FIELD,
    COUNTER_PREFIX,
    COUNTERS_OF_KERNEL,
    COUNTERS_OF_PROCESSOR,
    LONGEST_APPLICATION_NAME,
    MOST_APPLICATION_CONTEXTS,
    MOST_COUNTERS,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "CONTEXTS",
    "CONTEXT_CLASSES",
    "COUNTERS",
    "MOST_COUNTERS",
    "ContextClass",
    "context_classes",
    "context_field",
    "counter_class",
    "possible_contexts",
]


class ContextClass(NamedTuple):
    """A field that each event record has."""

    name: str
    """Without the underscore that it has in TSDL."""

    size: int
    """Bytes; of a context of an application, those that it has at least."""

    field: str
    """Its declaration in TSDL, CTF 1.8.3, section 7."""

    about: str
    """What it says, for people."""


CONTEXT_CLASSES = tuple(map(ContextClass._make, _agreement.CONTEXTS))
"""In the order in which they are written."""

CONTEXTS = tuple(one.name for one in CONTEXT_CLASSES)
"""Their names."""

COUNTERS = tuple(
    f"{COUNTER_PREFIX}{name}" for name in (*COUNTERS_OF_KERNEL, *COUNTERS_OF_PROCESSOR)
)
"""Contexts that count something in the thread."""
_RAW = COUNTER_PREFIX + r"raw:r[0-9a-fA-F]{1,16}:[A-Za-z_][A-Za-z0-9_]*"
_PRINTED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-:/+@"


def context_classes(names: Sequence[str]) -> list[ContextClass]:
    """Return contexts in the order in which records have them.

    Args:
        names: Their names, in any order.

    Returns:
        The contexts, each once.

    Raises:
        SelectionError: There is none of a name, or there are too many of a kind.
    """
    others = dict.fromkeys(name for name in names if name not in CONTEXTS)
    applications = [name for name in others if name.startswith(APPLICATION_PREFIX)]
    counters = [name for name in others if not name.startswith(APPLICATION_PREFIX)]
    for name in counters:
        if name not in COUNTERS and not _is_raw(name):
            raise SelectionError(
                f"no context '{name}': expected some of {', '.join(CONTEXTS)}, "
                f"{COUNTER_PREFIX}NAME or {APPLICATION_PREFIX}PROVIDER:TYPE; "
                "--list-contexts lists all"
            )
    if len(counters) > MOST_COUNTERS:
        raise SelectionError(
            f"{len(counters)} counters: expected up to {MOST_COUNTERS} in a recording"
        )
    _check_fields([*counters, *applications])
    return [
        *(one for one in CONTEXT_CLASSES if one.name in names),
        *map(counter_class, counters),
        *_application_classes(applications),
    ]


def _check_fields(names: Sequence[str]) -> None:
    fields: dict[str, str] = {}
    for name in names:
        field = context_field(name)
        if (other := fields.setdefault(field, name)) != name:
            raise SelectionError(
                f"'{other}' and '{name}' would be the same field, {field}: "
                "expected one of them"
            )


def possible_contexts(names: Sequence[str]) -> tuple[str, ...]:
    """Return those contexts that a recording can have together.

    Args:
        names: Names of contexts; of those that exclude each other, the first counts.

    Returns:
        Names that :func:`context_classes` takes.
    """
    found: list[str] = []
    for name in names:
        with suppress(SelectionError):
            context_classes([*found, name])
            found.append(name)
    return tuple(found)


def _application_classes(names: Sequence[str]) -> list[ContextClass]:
    if len(names) > MOST_APPLICATION_CONTEXTS:
        raise SelectionError(
            f"{len(names)} contexts of applications: expected up to "
            f"{MOST_APPLICATION_CONTEXTS} in a recording"
        )
    for name in names:
        provider, colon, kind = name.removeprefix(APPLICATION_PREFIX).partition(":")
        if not provider or not colon or not kind or not _is_printed(provider + kind):
            raise SelectionError(
                f"no context '{name}': expected {APPLICATION_PREFIX}PROVIDER:TYPE, of "
                f"letters, digits and some of '_.-/+@', with "
                f"{LONGEST_APPLICATION_NAME} characters or fewer"
            )
    return [
        ContextClass(
            name,
            1,
            APPLICATION_FIELDS.replace("{name}", context_field(name)),
            "what the program says of itself",
        )
        for name in names
    ]


def _is_printed(text: str) -> bool:
    is_short = len(text) + len(APPLICATION_PREFIX) < LONGEST_APPLICATION_NAME
    return is_short and all(one in _PRINTED for one in text)


def context_field(name: str) -> str:
    """Return the name of a field, which has underscores only.

    Of a counter by its number, it is without that, as LTTng has it.

    Args:
        name: Of a counter, or a context of an application.
    """
    if name.startswith(f"{COUNTER_PREFIX}raw:"):
        name = COUNTER_PREFIX + name.rpartition(":")[2]
    return "".join(one if one.isalnum() else "_" for one in name)


def _is_raw(name: str) -> bool:
    # Few recordings count anything.
    import re  # noqa: PLC0415 - see above

    return re.fullmatch(_RAW, name) is not None


def counter_class(name: str) -> ContextClass:
    """Return the context of a counter.

    Args:
        name: Its name, as options have it.

    Returns:
        The context, whose field has underscores only.
    """
    field = context_field(name)
    is_of_kernel = name.removeprefix(COUNTER_PREFIX) in COUNTERS_OF_KERNEL
    of = "the kernel" if is_of_kernel else "the CPU"
    return ContextClass(
        name, 8, COUNTER_FIELD.replace("{name}", f"_{field}"), f"counter of {of}"
    )
