"""What is captured, as people write it."""

from __future__ import annotations

from ..._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

__all__ = ["capture_text"]


def capture_text(expression: dict[str, Any]) -> str:
    """Return how a person writes what is captured.

    Args:
        expression: As the daemon has it.
    """
    kind = expression["type"]
    if kind == "element":
        return f"{capture_text(expression['of'])}[{expression['index']}]"
    name = str(expression["name"])
    if kind == "app-context":
        return f"$app.{expression['provider']}:{name}"
    return f"$ctx.{name}" if kind == "channel-context" else name
