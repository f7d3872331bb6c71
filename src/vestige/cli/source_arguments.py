"""What a command line says about sources and the time that is wanted of them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from .._typing import TYPE_CHECKING
from ..components.sinks.text_pretty import FIELD_NAMES, NAME_SCOPES, TextOptions
from ..components.sources.ctf_fs import CtfFsSource
from ..errors import CommandError
from .explicit_components import SOURCE, TEXT_SWITCHES, Component

if TYPE_CHECKING:
    from typing import Any

__all__ = ["apply_components", "open_sources"]


def apply_components(
    options: argparse.Namespace, components: Sequence[Component]
) -> dict[str, Any]:
    """Make options of the parameters of filters and of the sink.

    Args:
        options: The parsed command line, which is changed.
        components: The components that it names.

    Returns:
        Changes to the options of the text.

    Raises:
        CommandError: The components cannot be joined, or a parameter has no such value.
    """
    sinks = [part for part in components if part.name.startswith("sink.")]
    if len(sinks) > 1:
        raise CommandError("more than one sink", exit_code=2)
    changes: dict[str, Any] = {}
    for component in components:
        match component.name:
            case "filter.utils.trimmer":
                _apply_trimmer(options, component)
            case "filter.lttng-utils.debug-info":
                _apply_debug_info(options, component)
            case "sink.utils.dummy":
                options.output_format = "dummy"
            case "sink.text.pretty":
                options.output_format = "text"
                changes = _text_changes(options, component)
    return changes


def _apply_trimmer(options: argparse.Namespace, component: Component) -> None:
    for name in ("begin", "end"):
        value = component.get(name)
        if value is None:
            continue
        if getattr(options, name) is not None or options.timerange is not None:
            raise CommandError(f"the time range's {name} is given twice", exit_code=2)
        setattr(options, name, str(value))
    options.trimmer_gmt = component.get("gmt", False)


def _apply_debug_info(options: argparse.Namespace, component: Component) -> None:
    options.debug_info = True
    names = {
        "debug-info-dir": "debug_info_dir",
        "debug-info-field-name": "debug_info_field_name",
        "full-path": "debug_info_full_path",
        "target-prefix": "debug_info_target_prefix",
    }
    for name, value in component.params.items():
        setattr(
            options, names[name], [f"/={value}"] if name == "target-prefix" else value
        )


def _text_changes(options: argparse.Namespace, component: Component) -> dict[str, Any]:
    options.output = component.get("path", options.output)
    options.color = _choice(component, "color", ("never", "auto", "always")) or "auto"
    text = TextOptions()
    shown = {"show": ["all"], "hide": []}
    if names := _choice(component, "name-default", tuple(shown)):
        text = text.with_names(shown[names])
    if names := _choice(component, "field-default", tuple(shown)):
        text = text.with_fields(shown[names])
    changes = {
        name: getattr(text, name)
        for name in {*FIELD_NAMES.values(), *NAME_SCOPES.values()}
        if name is not None and getattr(text, name) != getattr(TextOptions(), name)
    }
    for name, value in component.params.items():
        if name == "no-delta":
            changes["delta"] = not value
        elif name in TEXT_SWITCHES and (option := text_option(name)) is not None:
            changes[option] = value
    return changes


def text_option(param: str) -> str | None:
    """Return the option of the text that a parameter of ``sink.text.pretty`` sets.

    Args:
        param: Name of a parameter that is a boolean.
    """
    if param == "verbose":
        return None
    if param.startswith("field-"):
        return FIELD_NAMES[param.removeprefix("field-")]
    return param.replace("-", "_")


def _choice(component: Component, param: str, choices: tuple[str, ...]) -> str | None:
    value = component.get(param)
    if value is None:
        return None
    if value not in choices:
        expected = ", ".join(choices)
        raise CommandError(
            f"{component.name}: the parameter '{param}' is one of {expected}, "
            f"not '{value}'",
            exit_code=2,
        )
    return str(value)


def open_sources(
    options: argparse.Namespace, components: Sequence[Component]
) -> list[CtfFsSource]:
    """Open the source of the paths of a command line, and those that it names.

    Args:
        options: The parsed command line.
        components: The components that it names.

    Raises:
        CommandError: A source has no inputs.
    """
    named = [part for part in components if part.name == SOURCE]
    implicit = next((part for part in named if part.implicit), None)
    wanted: list[tuple[Sequence[str], Component]] = []
    if options.paths:
        wanted.append((options.paths, implicit or Component(SOURCE)))
    elif implicit is not None:
        raise CommandError("--params: there is no PATH that they are for", exit_code=2)
    for component in named:
        if not component.implicit:
            if "inputs" not in component.params:
                raise CommandError(
                    "source.ctf.fs: the parameter 'inputs' is missing", exit_code=2
                )
            wanted.append((component.get("inputs"), component))
    sources: list[CtfFsSource] = []
    for paths, component in wanted:
        first = sum(source.trace_count for source in sources)
        sources.append(_open(options, paths, component, first))
    return sources


def _open(
    options: argparse.Namespace,
    paths: Sequence[str],
    component: Component,
    first_index: int,
) -> CtfFsSource:
    return CtfFsSource(
        paths,
        clock_offset_seconds=component.get(
            "clock-class-offset-s", options.clock_offset
        ),
        clock_offset_nanoseconds=component.get(
            "clock-class-offset-ns", options.clock_offset_ns
        ),
        force_epoch_origin=component.get(
            "force-clock-class-origin-unix-epoch", options.clock_force_correlate
        ),
        trace_name=component.get("trace-name"),
        first_index=first_index,
    )
