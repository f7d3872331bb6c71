"""The actions of a trigger, from the words of a command line."""

from __future__ import annotations

from ..._typing import TYPE_CHECKING
from ...daemon.numbers import read_size
from .call import FAILED, FailedError
from .options import NEEDED, Option

if TYPE_CHECKING:
    from typing import Any

    from .word_reader import Item, WordReader

__all__ = ["ACTIONS", "SNAPSHOT", "read_action"]

RATE = Option("rate-policy", "every:N times, or once-after:N", None, NEEDED, "POLICY")
SNAPSHOT = (
    Option("name", "the name of the snapshot", "n", NEEDED, "NAME"),
    Option("max-size", "up to so many bytes", "m", NEEDED, "SIZE"),
    Option("ctrl-url", "where its metadata goes", None, NEEDED, "URL"),
    Option("data-url", "where its data goes", None, NEEDED, "URL"),
    Option("url", "where it goes", None, NEEDED, "URL"),
    Option("path", "the directory where it goes", None, NEEDED, "PATH"),
    RATE,
)
"""What follows ``--action=snapshot-session SESSION``."""
ACTIONS = {
    "notify": "notify",
    "start-session": "start",
    "stop-session": "stop",
    "rotate-session": "rotate",
    "snapshot-session": "snapshot",
}
"""The actions that there are, and what errors call them."""
_NETWORKS = ("net", "net4", "net6", "tcp", "tcp4", "tcp6")
_LONG_NAMES = {"name": "--name/-n", "max-size": "--max-size/-m"}
_OUTPUTS = {"url", "path", "ctrl-url"}
LARGEST_COUNT = (1 << 64) - 1


def read_action(kind: str, reader: WordReader) -> dict[str, Any]:
    """Return the action that a part of a command line describes.

    Args:
        kind: One of :data:`ACTIONS`.
        reader: Stands behind its name.

    Returns:
        The action, as the daemon takes it.

    Raises:
        FailedError: It is none.
        WordError: As above.
    """
    options = SNAPSHOT if kind == "snapshot-session" else (RATE,)
    context = f"While parsing `{ACTIONS[kind]}` action:: "
    given: dict[str, str] = {}
    session = None
    while (item := reader.take(options, context, is_last=False)) is not None:
        if item.name is None:
            if session is not None or kind == "notify":
                raise FailedError(FAILED, f"Unexpected argument `{item.value}`.")
            session = item.value
        else:
            _take(given, item)
    found: dict[str, Any] = {"type": kind}
    if "rate-policy" in given:
        found["rate_policy"] = _rate_policy(given["rate-policy"])
    if kind != "notify":
        if session is None:
            raise FailedError(FAILED, "Missing session name.")
        found["session"] = session
    output = _output(given)
    if output:
        found["output"] = output
    return found


def _take(given: dict[str, str], item: Item) -> None:
    name = item.name or ""
    if name == "rate-policy":
        # The last one counts, but all are checked.
        _rate_policy(item.value)
    elif name in given:
        shown = _LONG_NAMES.get(name, f"--{name}")
        raise FailedError(FAILED, f"Duplicate '{shown}' given.")
    given[name] = item.value


def _rate_policy(text: str) -> dict[str, Any]:
    kind, colon, value = text.partition(":")
    if not colon or ":" in value:
        raise FailedError(FAILED, "Rate policy format is invalid.")
    if kind not in {"every", "once-after"}:
        raise FailedError(FAILED, f"Rate policy type `{kind}` unknown.")
    is_number = value.isascii() and value.isdecimal()
    if not is_number or int(value) > LARGEST_COUNT:
        raise FailedError(
            FAILED, f"Failed to parse rate policy value `{value}` as an integer."
        )
    if int(value) == 0:
        raise FailedError(FAILED, f"Rate policy value `{value}` must be > 0.")
    return {"type": f"{kind}-n", "count": int(value)}


def _output(given: dict[str, str]) -> dict[str, Any]:
    for one, other in (("ctrl-url", "data-url"), ("data-url", "ctrl-url")):
        if one in given and other not in given:
            raise FailedError(
                FAILED, f"--{one} is specified, but --{other} is missing."
            )
    if len(_OUTPUTS & given.keys()) > 1:
        raise FailedError(
            FAILED,
            "The --ctrl-url/--data-url, --url, and --path options can't be used "
            "together.",
        )
    for option, about in (("name", "name"), ("max-size", "max size")):
        if option in given and not _OUTPUTS & given.keys():
            raise FailedError(
                FAILED,
                f"Can't provide a snapshot output {about} without a snapshot output "
                "destination.",
            )
    output: dict[str, Any] = {}
    if "name" in given:
        output["name"] = given["name"]
    if "max-size" in given:
        size = read_size(given["max-size"])
        if size is None:
            text = given["max-size"]
            raise FailedError(FAILED, f"Failed to parse `{text}` as a size.")
        output["max_size"] = size
    return output | _place(given)


def _place(given: dict[str, str]) -> dict[str, str]:
    if "url" in given:
        scheme, _, rest = given["url"].partition("://")
        if scheme == "file" and rest.startswith("/"):
            return {"path": rest}
        if scheme not in _NETWORKS or not rest:
            text = given["url"]
            raise FailedError(FAILED, f"Failed to parse '{text}' as an URL.")
        return {"url": given["url"]}
    if "path" in given:
        path = given["path"].removeprefix("file://")
        if not path.startswith("/"):
            text = given["path"]
            raise FailedError(FAILED, f"Failed to parse '{text}' as a local path.")
        return {"path": path}
    if "ctrl-url" in given:
        return {"ctrl_url": given["ctrl-url"], "data_url": given["data-url"]}
    return {}
