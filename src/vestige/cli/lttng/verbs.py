"""The session verbs: where each is, and what the help says of it."""

from __future__ import annotations

from ..._typing import TYPE_CHECKING, NamedTuple
from .options import Option

if TYPE_CHECKING:
    from collections.abc import Callable

    from .call import Call

__all__ = ["COMMON", "GENERAL", "VERBS", "Verb", "load_verb"]


class Verb(NamedTuple):
    """A verb that need not be imported to be listed."""

    module: str
    function: str
    options: str | None
    """The name of its options in the module."""

    arguments: str
    """What follows the options, for the help."""

    about: str
    """Half a line."""

    reads_words: bool = False
    """Whether it reads its words itself: parts of them have options of their own."""


VERBS = {
    "add-context": Verb(
        "channel_verbs", "add_context", "ADD_CONTEXT", "", "add a field to all events"
    ),
    "add-trigger": Verb(
        "trigger_verbs",
        "add_trigger",
        "ADD_TRIGGER",
        "",
        "do something when an event matches a rule",
        reads_words=True,
    ),
    "clear": Verb(
        "rotation_verbs", "clear", "CLEAR", "[SESSION]", "throw away what was recorded"
    ),
    "create": Verb(
        "session_verbs", "create", "CREATE", "[SESSION]", "create a session"
    ),
    "destroy": Verb(
        "session_verbs", "destroy", "DESTROY", "[SESSION]", "destroy a session"
    ),
    "disable-channel": Verb(
        "channel_verbs",
        "disable_channel",
        "DISABLE_CHANNEL",
        "CHANNEL[,...]",
        "disable channels",
    ),
    "disable-event": Verb(
        "event_verbs", "disable_event", "DISABLE_EVENT", "NAME[,...]", "disable rules"
    ),
    "disable-rotation": Verb(
        "rotation_verbs",
        "disable_rotation",
        "DISABLE_ROTATION",
        "",
        "archive chunks by a schedule no more",
    ),
    "enable-channel": Verb(
        "channel_verbs",
        "enable_channel",
        "ENABLE_CHANNEL",
        "CHANNEL[,...]",
        "make or enable channels",
    ),
    "enable-event": Verb(
        "event_verbs",
        "enable_event",
        "ENABLE_EVENT",
        "NAME[,...]",
        "make or enable rules",
    ),
    "enable-rotation": Verb(
        "rotation_verbs",
        "enable_rotation",
        "ENABLE_ROTATION",
        "",
        "archive chunks by a schedule",
    ),
    "help": Verb("help_text", "help_", None, "[COMMAND]", "describe a command"),
    "list": Verb(
        "listing_verbs",
        "list_",
        "LIST",
        "[SESSION]",
        "show sessions, or what can be recorded",
    ),
    "list-triggers": Verb(
        "trigger_verbs", "list_triggers", None, "", "show the triggers"
    ),
    "load": Verb("saving_verbs", "load", "LOAD", "[SESSION]", "set up saved sessions"),
    "regenerate": Verb(
        "session_verbs",
        "regenerate",
        "REGENERATE",
        "(metadata | statedump)",
        "write metadata or a state dump again",
    ),
    "remove-trigger": Verb(
        "trigger_verbs", "remove_trigger", "REMOVE_TRIGGER", "NAME", "remove a trigger"
    ),
    "rotate": Verb(
        "rotation_verbs", "rotate", "ROTATE", "[SESSION]", "archive the present chunk"
    ),
    "save": Verb("saving_verbs", "save", "SAVE", "[SESSION]", "save sessions"),
    "set-session": Verb(
        "session_verbs", "set_session", None, "SESSION", "choose the current session"
    ),
    "snapshot": Verb(
        "snapshot_verbs",
        "snapshot",
        "SNAPSHOT",
        "(record | add-output | list-output | del-output)",
        "copy what buffers hold, and say where to",
    ),
    "start": Verb("session_verbs", "start", None, "[SESSION]", "start a session"),
    "status": Verb("listing_verbs", "status", None, "", "show the current session"),
    "stop": Verb("session_verbs", "stop", "STOP", "[SESSION]", "stop a session"),
    "track": Verb("tracking_verbs", "track", "TRACK", "", "allow processes to record"),
    "untrack": Verb(
        "tracking_verbs", "untrack", "TRACK", "", "forbid processes to record"
    ),
    "version": Verb("reading_verbs", "version", None, "", "print the version"),
    "view": Verb("reading_verbs", "view", "VIEW", "[SESSION]", "show the events"),
}
"""Those that there are."""

GENERAL = (
    Option("group", "the group that may control root's daemon", "g", "needed", "GROUP"),
    Option("mi", "print XML for programs", "m", "needed", "xml"),
    Option("no-sessiond", "do not start a daemon with 'create'", "n"),
    Option("quiet", "print nothing", "q"),
    Option("verbose", "has no meaning here", "v"),
    Option("sessiond-path", "start this daemon with 'create'", None, "needed", "PATH"),
    Option("relayd-path", "has no meaning yet", None, "needed", "PATH"),
    Option("list-commands", "list the commands"),
    Option("list-options", "list the options"),
    Option("version", "print the version", "V"),
    Option("help", "print this help", "h"),
)
"""What stands before a verb."""
COMMON = (
    Option("list-options", "list the options"),
    Option("help", "print this help", "h"),
)
"""What each verb has."""
NOT_YET = ("metadata",)
"""Verbs of LTTng that are refused with a reason."""


def load_verb(name: str) -> tuple[Callable[[Call], int], tuple[Option, ...]]:
    """Return what a verb does, and its options.

    Args:
        name: The verb.
    """
    verb = VERBS[name]
    # As importlib.import_module, which is one import more.
    module = __import__(verb.module, globals(), fromlist=("__name__",), level=1)
    options = () if verb.options is None else getattr(module, verb.options)
    return getattr(module, verb.function), (*options, *COMMON)
