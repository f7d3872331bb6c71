"""``vestige list-plugins``: the component classes that there are."""

from __future__ import annotations

import argparse

from ..exit_statuses import PLAIN
from ..plugins import FoundPlugins, add_plugin_arguments

__all__ = ["ListPluginsCommand"]


class ListPluginsCommand:
    """Lists component classes by their plugins."""

    name = "list-plugins"
    description = (
        "List the component classes that 'vestige run' and 'vestige convert' can name, "
        "by their plugins."
    )
    examples = """\
examples:
  vestige list-plugins
  vestige help source.ctf.fs        describe one of them, and its parameters
"""
    exit_statuses = PLAIN

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the options."""
        add_plugin_arguments(parser)

    def run(self, options: argparse.Namespace) -> int:
        """Print the list."""
        from ..component_help import plugin_list

        print("\n".join(plugin_list(FoundPlugins(options))))
        return 0
