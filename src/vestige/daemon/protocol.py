"""What client and daemon say to each other: a line of JSON each way.

A request has ``version``, ``number``, ``verb`` and what the verb needs; an answer has
``version``, the request's ``number``, and ``answer``, or ``refusal`` and ``detail``.
Members are only ever added. Empty lines say nothing.
"""

from __future__ import annotations

from .._typing import TYPE_CHECKING, NamedTuple, cast
from ..errors import SessionError, VestigeError
from .json_text import read_json, write_json
from .refusals import refused

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping
    from typing import Any

__all__ = [
    "LARGEST_MESSAGE",
    "Answer",
    "Request",
    "Values",
    "decode_answer",
    "decode_request",
    "encode_answer",
    "encode_message",
    "encode_refusal",
    "encode_request",
]

VERSION = 1
LARGEST_MESSAGE = 16 << 20
"""Bytes of a line, which bounds what a client can make the daemon keep."""


class Values:
    """The members of an object that are checked as they are taken.

    Args:
        values: What came; nothing of it is trusted.
    """

    def __init__(self, values: Mapping[str, object]) -> None:
        self._values = values

    def text(self, name: str) -> str:
        """Return a text that must be there.

        Args:
            name: Its member.

        Raises:
            SessionError: It is not there, or no text.
        """
        value = self.optional_text(name)
        if value is None:
            raise refused("INVALID", f"expected '{name}'")
        return value

    def optional_text(self, name: str) -> str | None:
        """Return a text, if it is there.

        Args:
            name: Its member.

        Raises:
            SessionError: It is something else.
        """
        value = self._values.get(name)
        if value is not None and (not isinstance(value, str) or "\0" in value):
            raise refused("INVALID", f"expected a text as '{name}'")
        return value

    def number(self, name: str, default: int = 0) -> int:
        """Return a whole number.

        Args:
            name: Its member.
            default: What is meant if it is not there.

        Raises:
            SessionError: It is something else.
        """
        value = self._values.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise refused("INVALID", f"expected a number as '{name}'")
        return value

    def flag(self, name: str) -> bool:
        """Return whether something is asked for.

        Args:
            name: Its member.

        Raises:
            SessionError: It is something else.
        """
        value = self._values.get(name, False)
        if not isinstance(value, bool):
            raise refused("INVALID", f"expected true or false as '{name}'")
        return value

    def numbers(self, name: str) -> list[int] | None:
        """Return a list of whole numbers, if it is there.

        Args:
            name: Its member.

        Raises:
            SessionError: It is something else.
        """
        if self._values.get(name) is None:
            return None
        return self._list(name, "numbers", lambda one: type(one) is int)

    def texts(self, name: str) -> list[str]:
        """Return a list of texts, empty if it is not there.

        Args:
            name: Its member.

        Raises:
            SessionError: It is something else.
        """
        return self._list(
            name, "texts", lambda one: isinstance(one, str) and "\0" not in one
        )

    def real(self, name: str) -> float | None:
        """Return a number that need not be a whole one, if it is there.

        Args:
            name: Its member.

        Raises:
            SessionError: It is something else.
        """
        value = self._values.get(name)
        if value is None or type(value) in {int, float}:
            return cast("float | None", value)
        raise refused("INVALID", f"expected a number as '{name}'")

    def member(self, name: str) -> Values | None:
        """Return an object, if it is there.

        Args:
            name: Its member.

        Raises:
            SessionError: It is something else.
        """
        value = self._values.get(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise refused("INVALID", f"expected an object as '{name}'")
        return Values(value)

    def members(self, name: str) -> list[Values]:
        """Return a list of objects, empty if it is not there.

        Args:
            name: Its member.

        Raises:
            SessionError: It is something else.
        """
        found = self._list(name, "objects", lambda one: isinstance(one, dict))
        return [Values(one) for one in found]

    def _list(
        self, name: str, what: str, is_one: Callable[[object], bool]
    ) -> list[Any]:
        value = self._values.get(name, [])
        if not isinstance(value, list) or not all(map(is_one, value)):
            raise refused("INVALID", f"expected {what} as '{name}'")
        return value

    def choice(self, name: str, choices: Container[str]) -> str:
        """Return a text that is one of some.

        Args:
            name: Its member.
            choices: The others are refused.

        Raises:
            SessionError: It is not there, or another one.
        """
        value = self.text(name)
        if value not in choices:
            raise refused("INVALID", f"expected another '{name}' than '{value}'")
        return value

    def count(self, name: str, default: int | None = None) -> int:
        """Return a whole number of 64 bits without a sign.

        Args:
            name: Its member.
            default: What is meant if it is not there; ``None`` if it must be.

        Raises:
            SessionError: It is something else.
        """
        value = self.number(name, -1 if default is None else default)
        if not 0 <= value < 1 << 64:
            raise refused("INVALID", f"expected a number of 64 bits as '{name}'")
        return value


class Request(Values):
    """A request.

    Args:
        verb: What is to be done.
        values: What came with it; nothing of it is trusted.
        number: What tells its answer from others.
    """

    def __init__(
        self, verb: str, values: Mapping[str, object], number: int | None = None
    ) -> None:
        super().__init__(values)
        self.verb = verb
        self.own_number = number


class Answer(NamedTuple):
    """What came of a request."""

    number: int | None
    """That of the request; ``None`` if the daemon could not read it."""

    value: object
    """What JSON can say."""

    refusal: tuple[str, str | None] | None
    """Why it is refused: a name, and what is said beside. An exception here would keep
    alive whoever raises it."""


def encode_request(verb: str, values: Mapping[str, object], number: int) -> bytes:
    """Write a request.

    Args:
        verb: What is to be done.
        values: What the verb needs.
        number: What tells its answer from others.
    """
    return _line({"version": VERSION, "number": number, "verb": verb, "values": values})


def decode_request(line: bytes) -> Request:
    """Read a request.

    Args:
        line: What came.

    Raises:
        SessionError: It is no request.
    """
    try:
        message = read_json(line)
    except (ValueError, RecursionError):
        raise refused("INVALID", "expected a line of JSON") from None
    if not isinstance(message, dict) or message.get("version") != VERSION:
        raise refused("INVALID", f"expected a request of version {VERSION}")
    verb, values = message.get("verb"), message.get("values", {})
    if not isinstance(verb, str) or not isinstance(values, dict):
        raise refused("INVALID", "expected a verb and its values")
    number = message.get("number")
    return Request(verb, values, number if type(number) is int else None)


def encode_answer(answer: object, number: int | None) -> bytes:
    """Write what came of a request.

    Args:
        answer: What JSON can say.
        number: That of the request.
    """
    return _line({"version": VERSION, "number": number, "answer": answer})


def encode_refusal(error: SessionError, number: int | None) -> bytes:
    """Write why a request is refused.

    Args:
        error: Why.
        number: That of the request, if it could be read.
    """
    refusal = {"refusal": error.name, "detail": error.detail}
    return _line({"version": VERSION, "number": number, **refusal})


def encode_message(message: Mapping[str, object]) -> bytes:
    """Write what nobody has asked for just now: a notification, or the like.

    Args:
        message: Its members.
    """
    return _line({"version": VERSION, "number": None, **message})


def decode_answer(line: bytes) -> Answer:
    """Read an answer.

    Args:
        line: What came.

    Raises:
        VestigeError: It is none, or of another version.
    """
    try:
        message = read_json(line)
        version = message["version"]
    except (ValueError, TypeError, KeyError):
        raise VestigeError("the session daemon sent no answer") from None
    if version != VERSION:
        raise VestigeError(
            f"the session daemon speaks version {version}: expected {VERSION}"
        )
    refusal = None
    if "refusal" in message:
        refusal = (message["refusal"], message.get("detail"))
    return Answer(message.get("number"), message.get("answer"), refusal)


def _line(message: Mapping[str, object]) -> bytes:
    return write_json(message) + b"\n"
