"""What a command line says about components: sources, filters, the text of the sink."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from .._typing import TYPE_CHECKING
from ..components.sinks.text_pretty import FIELD_NAMES, NAME_SCOPES, TextOptions
from ..components.sources.ctf_fs import CtfFsSource
from ..errors import CommandError
from .explicit_components import DEBUG_INFO, SOURCE, TEXT_SWITCHES, Component

if TYPE_CHECKING:
    from typing import Any

    from ..components.filters.debug_info import DebugInfoFilter
    from ..debuginfo import DebugInfoOptions

__all__ = ["apply_components", "debug_info_filters", "open_sources"]


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


def debug_info_filters(
    options: argparse.Namespace,
    components: Sequence[Component],
    sources: Sequence[CtfFsSource],
) -> list[DebugInfoFilter]:
    """Return the filters that add source places, in the order in which they do.

    The one that options imply comes first, as with Babeltrace 2; then come those that
    the command line names.

    Args:
        options: The parsed command line.
        components: The components that it names.
        sources: The traces, for the symbols that may be packed with them.

    Raises:
        CommandError: A target prefix is malformed.
    """
    named = [part for part in components if part.name == DEBUG_INFO]
    is_implied = _implies_debug_info(options, is_named=bool(named))
    if not (named or is_implied):
        return []
    from ..components.filters.debug_info import DebugInfoFilter
    from .debug_info_arguments import debug_file_options, debug_info_options

    wanted = [debug_info_options(options)] if is_implied else []
    if named:
        # Those of Babeltrace 2 are of the implied filter, ours of all.
        ours = debug_file_options(options)._replace(
            debug_directories=None, target_prefixes=()
        )
        wanted += [_debug_info(ours, part) for part in named]
    return [DebugInfoFilter(one, sources) for one in wanted]


def _implies_debug_info(options: argparse.Namespace, *, is_named: bool) -> bool:
    """Tell if the options ask for the filter: any of Babeltrace 2's does so there."""
    return bool(
        options.debug_info
        or options.debug_info_dir
        or options.debug_info_full_path
        or options.debug_info_target_prefix
        or options.debug_info_field_name != "debug_info"
        or (not is_named and (options.debuginfod or options.no_demangle))
    )


def _debug_info(options: DebugInfoOptions, component: Component) -> DebugInfoOptions:
    """Return options with the parameters of a component."""
    from pathlib import Path

    from ..debuginfo.options import split_path_list

    directories = component.get("debug-info-dir")
    prefix = component.get("target-prefix")
    return options._replace(
        field_name=component.get("debug-info-field-name", options.field_name),
        full_path=component.get("full-path", options.full_path),
        debug_directories=None if directories is None else split_path_list(directories),
        target_prefixes=() if prefix is None else (("/", Path(prefix)),),
    )


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
