"""What a notification captures, from a word of a command line."""

from __future__ import annotations

import re

from ..._typing import TYPE_CHECKING
from ...errors import SelectionError
from ...expressions import compile_filter
from ...expressions.code import Operation
from .call import FAILED, FailedError

if TYPE_CHECKING:
    from typing import Any

__all__ = ["capture_of"]

_FIELD = re.compile(
    r"\s*(?:\$(?P<root>ctx|app)\.(?P<context>[\w:.-]*)|(?P<name>[A-Za-z_]\w*))"
    r"\s*(?:\[\s*(?P<index>0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)[uUlL]*\s*\])?"
    r"(?P<rest>.*)",
    re.ASCII | re.DOTALL,
)
_SUBFIELD = re.compile(r"\s*(?:\.|->)\s*[A-Za-z_].*", re.DOTALL)
_UNARY = {Operation.MINUS, Operation.NOT, Operation.COMPLEMENT}
_SKIPS = {Operation.SKIP_IF_FALSE, Operation.SKIP_IF_TRUE}


def capture_of(text: str) -> dict[str, Any]:
    """Return what is to be captured, as the daemon takes it.

    Args:
        text: As it was written.

    Raises:
        FailedError: It is nothing that can be captured.
    """
    match = _FIELD.fullmatch(text)
    if match is None or match["rest"].strip():
        if match is not None and _SUBFIELD.fullmatch(match["rest"]):
            raise _failed(text, "Capturing subfields is not supported.")
        operators = _operators(text)
        raise _failed(
            text, f"{operators} operators are not allowed in capture expressions."
        )
    found: dict[str, Any]
    if match["root"] == "app":
        found = _app_context(match["context"])
    elif match["root"] == "ctx":
        if not match["context"]:
            raise _unparsed(text)
        found = {"type": "channel-context", "name": match["context"]}
    else:
        found = {"type": "payload-field", "name": match["name"]}
    if match["index"] is None:
        return found
    digits = match["index"]
    is_octal = digits.startswith("0") and digits.isdecimal()
    index = int(digits, 8) if is_octal else int(digits, 0)
    return {"type": "element", "index": index, "of": found}


def _failed(text: str, why: str) -> FailedError:
    return FailedError(FAILED, f"While parsing expression `{text}`: {why}")


def _unparsed(text: str) -> FailedError:
    return FailedError(FAILED, f"Failed to parse capture expression `{text}`.")


def _app_context(name: str) -> dict[str, Any]:
    provider, colon, kind = name.partition(":")
    start = "Invalid app-specific context field name: missing"
    if not colon:
        raise FailedError(FAILED, f"{start} colon in `{name}`.")
    if not kind:
        raise FailedError(FAILED, f"{start} type name after colon in `{name}`.")
    return {"type": "app-context", "provider": provider, "name": kind}


def _operators(text: str) -> str:
    """Return which operators an expression consists of, outermost."""
    if text.lstrip().startswith("+"):
        return "Unary"
    try:
        code = compile_filter(text)
    except SelectionError:
        raise _unparsed(text) from None
    last = len(code) - 1
    if any(one.operation in _SKIPS and one.argument == last for one in code):
        return "Logical"
    if last == 1:
        # A constant: nothing of an event.
        raise _unparsed(text)
    return "Unary" if code[last - 1].operation in _UNARY else "Binary"
