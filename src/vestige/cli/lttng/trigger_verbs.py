"""The session verbs of triggers: add-trigger, list-triggers, remove-trigger."""

from __future__ import annotations

from ..._typing import TYPE_CHECKING, NamedTuple
from ...errors import SessionError
from .action_arguments import ACTIONS, read_action
from .call import DONE, FAILED, Call, FailedError
from .options import NEEDED, Option
from .rule_arguments import RULE, read_rule
from .trigger_text import trigger_lines
from .word_reader import MissingValueError, WordError, WordReader

if TYPE_CHECKING:
    from typing import Any

    from .word_reader import Item

__all__ = [
    "ADD_TRIGGER",
    "REMOVE_TRIGGER",
    "add_trigger",
    "list_triggers",
    "remove_trigger",
]

_TOP = (
    Option("condition", "event-rule-matches, and the rule", None, NEEDED, "CONDITION"),
    Option(
        "action",
        "notify, or start-, stop-, rotate- or snapshot-session SESSION",
        None,
        NEEDED,
        "ACTION",
    ),
    Option("name", "the name of the trigger", None, NEEDED, "NAME"),
    Option("owner-uid", "root alone: for this user", None, NEEDED, "UID"),
)
ADD_TRIGGER = (*_TOP, *(one for one in RULE if one.name != "name"))
REMOVE_TRIGGER = (Option("owner-uid", "root alone: of this user", None, NEEDED, "UID"),)
CONDITION = "event-rule-matches"


class _Words(NamedTuple):
    """What a command line said of a trigger."""

    single: dict[str, str]
    conditions: list[dict[str, Any]]
    actions: list[dict[str, Any]]


def add_trigger(call: Call) -> int:
    """Add a trigger."""
    try:
        words = _read_words(WordReader(call.words.arguments))
    except WordError as error:
        raise FailedError(FAILED, _with_names(error)) from None
    if not words.conditions:
        raise FailedError(FAILED, "Missing --condition.")
    if not words.actions:
        raise FailedError(FAILED, "Need at least one --action.")
    trigger: dict[str, Any] = {
        "name": words.single.get("name"),
        "condition": words.conditions[0],
        "action": {"type": "list", "actions": words.actions},
    }
    owner = words.single.get("owner-uid")
    if owner is not None:
        trigger["owner_uid"] = _number(
            owner, f"Failed to parse `{owner}` as a user id."
        )
    try:
        made = call.client.register_trigger(trigger)
    except SessionError as error:
        if error.name == "EPERM":
            raise FailedError(
                FAILED, "Failed to set trigger's user identity."
            ) from None
        if error.name == "FILTER_INVAL" and error.detail is not None:
            call.error(error.detail)
        raise FailedError(
            FAILED, f"Failed to register trigger: {error.message}."
        ) from None
    _emit(call, made)
    call.say(f"Added trigger `{made['name']}`.")
    return DONE


def _read_words(reader: WordReader) -> _Words:
    words = _Words({}, [], [])
    while (item := reader.take(_TOP)) is not None:
        if item.name is None:
            raise FailedError(FAILED, f"Unexpected argument `{item.value}`.")
        if item.name == "condition":
            if words.conditions:
                raise FailedError(FAILED, "A --condition was already given.")
            if item.value != CONDITION:
                raise WordError(_unknown(item, "condition", (CONDITION,)))
            words.conditions.append(read_rule(reader))
        elif item.name == "action":
            if item.value not in ACTIONS:
                raise WordError(_unknown(item, "action", ("notify",)))
            words.actions.append(read_action(item.value, reader))
        elif item.name in words.single:
            raise FailedError(FAILED, f"Duplicate '--{item.name}' given.")
        else:
            words.single[item.name] = item.value
    return words


def _unknown(item: Item, what: str, valid: tuple[str, ...]) -> str:
    return (
        f"While parsing argument #{item.number} (`{item.word}`): Unknown {what} name "
        f"'{item.value}'\n" + _valid(what, valid)
    )


def _valid(what: str, names: tuple[str, ...]) -> str:
    return "\n".join([f"Valid {what} names are:", *(f"  {one}" for one in names)])


def _with_names(error: WordError) -> str:
    """Return what is wrong, with the values that would be right."""
    if isinstance(error, MissingValueError):
        # LTTng names one action alone.
        names = {"condition": CONDITION, "action": "notify"}
        if error.option in names:
            return f"{error}\n{_valid(error.option, (names[error.option],))}"
    return str(error)


def _number(text: str, why: str) -> int:
    digits = text.lstrip().removeprefix("-")
    if not digits.isascii() or not digits.isdecimal():
        raise FailedError(FAILED, why)
    return int(text)


def _emit(call: Call, trigger: dict[str, Any]) -> None:
    if call.general.is_mi:
        from ...daemon.trigger_mi import trigger_element

        call.emit(trigger_element(trigger, with_errors=False))


def list_triggers(call: Call) -> int:
    """Show triggers."""
    for word in call.words.arguments:
        raise FailedError(FAILED, f"Unexpected argument: {word}")
    try:
        # What programs have registered without a name is theirs.
        triggers = [
            one for one in call.client.triggers() if not one.get("is_anonymous")
        ]
    except SessionError as error:
        raise FailedError(FAILED, f"Error listing triggers: {error.message}.") from None
    if call.general.is_mi:
        from ...daemon.trigger_mi import trigger_element
        from ...daemon.xml_tree import element

        shown = element("triggers", *map(trigger_element, triggers))
        call.emit(shown, is_success=None)
    for one in triggers:
        call.say(*trigger_lines(one))
    return DONE


def remove_trigger(call: Call) -> int:
    """Remove a trigger."""
    names = call.words.arguments
    if not names:
        raise FailedError(FAILED, "Missing `name` argument.")
    for word in names[1:]:
        raise FailedError(FAILED, f"Unexpected argument '{word}'")
    owner = call.words.value("owner-uid")
    uid = None
    if owner is not None:
        uid = _number(owner, f"Failed to parse `{owner}` as an integer.")
    try:
        removed = call.client.unregister_trigger(names[0], uid)
    except SessionError as error:
        if error.name in {"TRIGGER_NOT_FOUND", "EPERM"}:
            raise FailedError(
                FAILED, f"Couldn't find trigger with name `{names[0]}`."
            ) from None
        if error.name == "NO_SESSIOND":
            raise FailedError(FAILED, "Failed to get the list of triggers.") from None
        raise FailedError(
            FAILED, f"Failed to unregister trigger `{names[0]}`."
        ) from None
    _emit(call, removed)
    call.say(f"Removed trigger `{names[0]}`.")
    return DONE
