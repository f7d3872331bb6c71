"""How plans are run in scripts: they know of no damage but as an error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["DAMAGE_IS_AN_ERROR"]

DAMAGE_IS_AN_ERROR: Mapping[str, Any] = {
    "strict": True,
    "overlooked": ["other-uuid"],
    "literal": True,
}
"""What the function that lowers plans is called with, as under the name babeltrace2."""
