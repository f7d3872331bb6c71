"""The report of callers: from where a function is called, and how long that took."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..._typing import TYPE_CHECKING
from ...analysis.callers import callers_tree
from ...analysis.function_choice import FunctionChoice
from ...errors import CommandError, SelectionError
from ...plain_text import plain
from ..exit_statuses import WRONG_USAGE
from ..render.call_tree import tree_lines
from ..render.calls_json import nodes_facts
from ..suggestions import did_you_mean
from .calls import read_tree
from .report import Table

if TYPE_CHECKING:
    from typing import Any

    from ...analysis.call_nodes import CallNode
    from ...damage import Damage
    from ..render.call_style import CallStyle
    from .reading import Reading

__all__ = ["CallersReport", "make_report"]


class CallersReport:
    """From where some functions are called.

    Args:
        pattern: Which functions.
        root: The root of the functions; below each are its callers.
        damage: What could not be read.
    """

    def __init__(self, pattern: str, root: CallNode, damage: Sequence[Damage]) -> None:
        self.pattern = pattern
        self.root = root
        self.damage = damage

    def lines(self, style: CallStyle) -> Iterator[str]:
        """Write it for people; see :class:`Report`."""
        yield f"callers of {plain(self.pattern)}: below each function who called it"
        yield ""
        yield from tree_lines(self.root, style)

    def facts(self, style: CallStyle) -> dict[str, Any]:
        """Return it as JSON has it; see :class:`Report`."""
        nodes = nodes_facts(self.root)
        return {
            "version": 1,
            "report": "callers",
            "function": self.pattern,
            "tree": nodes[: style.limit] if style.limit else nodes,
            "damage": [found._asdict() for found in self.damage],
        }

    def table(self, style: CallStyle) -> Table:
        """Return the nodes; see :class:`Report`."""
        facts = self.facts(style)["tree"]
        columns = list(facts[0]) if facts else []
        return Table(columns, [list(one.values()) for one in facts])


def make_report(reading: Reading) -> CallersReport:
    """Read the calls, and turn them round.

    Args:
        reading: The traces.

    Raises:
        CommandError: No function has such a name.
    """
    pattern = reading.options.callers
    try:
        choice = FunctionChoice([pattern])
    except SelectionError as error:
        raise CommandError(f"--callers: {error}", exit_code=WRONG_USAGE) from error
    tree = read_tree(reading)
    root = callers_tree(tree.root(), choice.takes)
    if not root.callees:
        names = {one.function.name for one in tree.functions()}
        if reading.is_of_part:
            raise CommandError(
                f"--callers={plain(pattern)}: no function with calls in the chosen "
                f"part of the trace has this name{plain(did_you_mean(pattern, names))}"
            )
        raise CommandError(
            f"--callers={plain(pattern)}: no function with calls has this name"
            f"{plain(did_you_mean(pattern, names))}",
            exit_code=WRONG_USAGE,
        )
    return CallersReport(pattern, root, tree.damage)
