"""``vestige run``: components and connections, as ``babeltrace2 run`` has them."""

from __future__ import annotations

import argparse

from ..._typing import TYPE_CHECKING
from ...errors import CommandError
from ..damage_output import add_strict_argument
from ..exit_statuses import LIKE_BABELTRACE
from ..general_options import add_general_arguments, retry_seconds
from ..plugins import add_plugin_arguments, registry_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..component_words import ComponentWords, GraphWords
    from ..ordered_options import Item

__all__ = ["RunCommand", "run_words"]


class RunCommand:
    """Runs components that are named, with the connections between them."""

    name = "run"
    description = (
        "Make the components that are named, connect their ports, and move all events "
        "from the sources to the sinks. The options are those of 'babeltrace2 run' 2.0."
    )
    examples = """\
examples:
  vestige run -c in:source.ctf.fs -p 'inputs=["TRACE"]' -c mux:filter.utils.muxer \\
      -c out:sink.text.pretty -x in:mux -x mux:out
  vestige convert --run-args --begin=17:48 TRACE
                                        print such words for options of 'convert'

connections:
  UPSTREAM[.OUTPUT]:DOWNSTREAM[.INPUT]  names of components, patterns of their ports:
                                        * is any text; \\ before . : or * is that sign
  Each output port takes the first connection that fits it, and the first input port
  there that is free.
"""
    exit_statuses = LIKE_BABELTRACE

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument(
            "-c",
            "--component",
            metavar="NAME:CLASS",
            action="append",
            help="make a component, such as in:source.ctf.fs",
        )
        parser.add_argument(
            "-p",
            "--params",
            metavar="NAME=VALUE[,...]",
            action="append",
            help="parameters of the last --component",
        )
        parser.add_argument(
            "-b",
            "--base-params",
            metavar="NAME=VALUE[,...]",
            action="append",
            help="parameters of all components that follow",
        )
        parser.add_argument(
            "-r",
            "--reset-base-params",
            action="store_true",
            help="forget --base-params",
        )
        parser.add_argument(
            "-x",
            "--connect",
            metavar="CONNECTION",
            action="append",
            help="connect output ports with input ports",
        )
        add_strict_argument(parser)
        add_general_arguments(parser)
        add_plugin_arguments(parser)
        parser.set_defaults(parser=parser)

    def run(self, options: argparse.Namespace) -> int:
        """Run the components; return 1 when a trace is damaged."""
        from ..ordered_options import ordered_items
        from ..running import run_plan

        words = run_words(ordered_items(options.parser, options.command_line))
        return run_plan(
            words.plan()._replace(retry_duration=retry_seconds(options)),
            registry=registry_of(options),
            strict=options.strict,
            overlooked=options.overlook,
            literal=options.literal,
        )


def run_words(items: Iterable[Item]) -> GraphWords:
    """Return the components and connections of a command line.

    Args:
        items: Its options, in their order.

    Raises:
        CommandError: It names no source, no sink, or something has no component.
    """
    from ..component_words import GraphWords, connection

    words = GraphWords([], [], [])
    base: list[str] = []
    for option, value in items:
        if option == "component":
            words.components.append(_component(value, base))
        elif option == "params":
            _last(words).add_params(value)
        elif option == "log_level" and words.components:
            # Before all components it is that of the whole command.
            _last(words).add_log_level(value)
        elif option == "base_params":
            base.append(value)
        elif option == "reset_base_params":
            base.clear()
        elif option == "connect":
            words.connections.append(connection(value))
    for kind in ("source", "sink"):
        if all(one.kind != kind for one in words.components):
            raise CommandError(f"there is no {kind}", exit_code=2)
    return words


def _component(text: str, base: Iterable[str]) -> ComponentWords:
    from ..component_words import ComponentWords, named_class

    name, class_text = named_class(text)
    if name is None:
        raise CommandError(
            f"--component: expected NAME:TYPE.PLUGIN.CLASS, not '{text}'", exit_code=2
        )
    component = ComponentWords(name, class_text, text)
    for params in base:
        component.add_params(params)
    return component


def _last(words: GraphWords) -> ComponentWords:
    if not words.components:
        raise CommandError(
            "--params: there is no component that they are for", exit_code=2
        )
    return words.components[-1]
