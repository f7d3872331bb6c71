"""The parameters of ``sink.text.pretty``, and a sink made of them."""

from __future__ import annotations

import os
import sys

from ..._typing import TYPE_CHECKING
from .text_colors import bright_is_bold, use_color
from .text_pretty import FIELD_NAMES, TextOptions, TextPrettySink

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import ExitStack
    from typing import Any

    from ...graph.plan import ComponentSpec

__all__ = ["make_text_pretty", "text_options"]

SHOWN = {"show": ["all"], "hide": []}
"""What the values of ``name-default`` and ``field-default`` stand for."""


def make_text_pretty(
    spec: ComponentSpec, resources: ExitStack, _streams: object
) -> TextPrettySink:
    """Make a sink; the file that it may write to is emptied.

    Args:
        spec: The component.
        resources: What closes the file.

    Raises:
        OSError: The file cannot be written.
    """
    options = text_options(spec.params)
    path = spec.params.get("path")
    if path is None:
        sys.stdout.flush()
        return TextPrettySink(options)
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    descriptor = os.open(str(path), flags, 0o666)
    resources.callback(os.close, descriptor)
    return TextPrettySink(options, descriptor=descriptor)


def text_options(params: Mapping[str, Any]) -> TextOptions:
    """Return what the lines look like.

    Args:
        params: The parameters.
    """
    text = TextOptions(
        color=use_color(
            str(params.get("color", "auto")),
            to_standard_output="path" not in params,
            like_babeltrace=True,
        ),
        bright_is_bold=bright_is_bold(),
    )
    if (names := params.get("name-default")) is not None:
        text = text.with_names(SHOWN[names])
    if (fields := params.get("field-default")) is not None:
        text = text.with_fields(SHOWN[fields])
    switches = {}
    for name, value in params.items():
        if name == "no-delta":
            switches["delta"] = not value
        elif isinstance(value, bool) and (option := _option(name)) is not None:
            switches[option] = value
    return text._replace(**switches)


def _option(param: str) -> str | None:
    """Return the option that a parameter sets, if there is one."""
    if param == "verbose":
        return None
    if param.startswith("field-"):
        return FIELD_NAMES[param.removeprefix("field-")]
    return param.replace("-", "_")
