"""``vestige query``: what a component class answers without reading events."""

from __future__ import annotations

import argparse

from ...errors import CommandError, GraphError
from ..exit_statuses import LIKE_BABELTRACE
from ..plugins import add_plugin_arguments, registry_of, told

__all__ = ["QueryCommand"]


class QueryCommand:
    """Asks a component class, and prints the answer."""

    name = "query"
    description = (
        "Ask a component class for an object, and print it. 'vestige help CLASS' lists "
        "the objects of a class with their parameters. Options and output are those of "
        "'babeltrace2 query' 2.0."
    )
    examples = """\
examples:
  vestige query source.ctf.fs metadata-info -p 'path="TRACE"'
  vestige query source.ctf.fs babeltrace.trace-infos -p 'inputs=["TRACE"]'
"""
    exit_statuses = LIKE_BABELTRACE

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument(
            "component_class", metavar="CLASS", help="such as source.ctf.fs"
        )
        parser.add_argument("object", metavar="OBJECT", help="what is asked for")
        parser.add_argument(
            "-p",
            "--params",
            metavar="NAME=VALUE[,...]",
            action="append",
            default=[],
            help="parameters of the object",
        )
        add_plugin_arguments(parser)

    def run(self, options: argparse.Namespace) -> int:
        """Print the answer."""
        from ...components.registry import full_class_name
        from ..params import parse_params
        from ..render.values import value_lines

        name = full_class_name(options.component_class) or options.component_class
        params = {}
        for text in options.params:
            params.update(parse_params(text))
        try:
            answer = registry_of(options).query(name, options.object, params)
        except GraphError as error:
            if error.__cause__ is not None:
                # It is the class that raises.
                raise told(error) from None
            raise CommandError(str(error), exit_code=2) from None
        print("\n".join(value_lines(answer)))
        return 0
