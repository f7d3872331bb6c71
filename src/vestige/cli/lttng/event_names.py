"""The names that enable-event and disable-event are given."""

from __future__ import annotations

from ..._typing import TYPE_CHECKING
from .call import FAILED, FailedError

if TYPE_CHECKING:
    from .call import Call

__all__ = ["names_of", "split_names"]


def names_of(call: Call, option_for_all: str) -> list[str]:
    """Return the names of a command line.

    Args:
        call: The call.
        option_for_all: The option that stands for all names.

    Raises:
        FailedError: There are none, or something follows them.
    """
    if len(call.words.arguments) > 1:
        raise FailedError(FAILED, f"Unknown argument: {call.words.arguments[1]}")
    if call.words.has(option_for_all):
        return ["*"]
    names = split_names(call.words.arguments[0]) if call.words.arguments else []
    if not names:
        raise FailedError(FAILED, "Missing event name(s).")
    return names


def split_names(text: str) -> list[str]:
    r"""Take a list of names apart.

    Args:
        text: Names with commas between them; ``\,`` is a comma in a name. All other
            escapes stay what they are.
    """
    parts = [""]
    characters = iter(text)
    for character in characters:
        if character == ",":
            parts.append("")
        elif character == "\\":
            following = next(characters, "")
            parts[-1] += following if following == "," else f"\\{following}"
        else:
            parts[-1] += character
    return [one for one in parts if one]
