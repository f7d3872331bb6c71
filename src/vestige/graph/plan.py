"""What is to be run: components, and who is connected to whom. Data, nothing else.

Whoever wants something read makes a plan. :mod:`.plan_check` says what is wrong with
it before anything is read, and :mod:`.lowering` makes a graph of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .._typing import TYPE_CHECKING, NamedTuple
from ..errors import GraphError
from .port_patterns import ANY_PORT, is_port_pattern

if TYPE_CHECKING:
    from typing import Any

__all__ = ["ComponentSpec", "Connection", "Plan", "UnsignedInteger"]


class UnsignedInteger(int):
    """A value of a parameter that is an integer without a sign: written with a plus."""


class ComponentSpec(NamedTuple):
    """A component that is wanted."""

    name: str
    """What other parts of the plan call it."""
    class_name: str
    """Its class, such as ``source.ctf.fs``."""
    params: Mapping[str, Any] = {}
    """The values of its parameters, by their names."""
    log_level: str | None = None
    """How much it says of what it does: a letter or a word of Babeltrace 2."""


class Connection(NamedTuple):
    """Output ports of one component that go to input ports of another one."""

    upstream: str
    """Name of the component from which messages come."""
    downstream: str
    """Name of the component to which they go."""
    upstream_port: str = ANY_PORT
    """Pattern of the output ports."""
    downstream_port: str = ANY_PORT
    """Pattern of the input ports."""

    @classmethod
    def parse(cls, text: str) -> Connection:
        r"""Read ``UPSTREAM[.PORT]:DOWNSTREAM[.PORT]``.

        A backslash before ``.``, ``:`` or itself makes it a part of a name.

        Args:
            text: The text.

        Raises:
            GraphError: It has another form.
        """
        ends = _split(text, ":") if text.isprintable() else []
        pairs = [_split(end, ".") for end in ends]
        if len(pairs) != 2 or any(len(pair) > 2 or "" in pair for pair in pairs):  # noqa: PLR2004
            raise _not_a_connection(text)
        (upstream, *outputs), (downstream, *inputs) = pairs
        output, target = (_pattern(one) for one in (outputs, inputs))
        if output is None or target is None:
            raise _not_a_connection(text)
        return cls(_plain(upstream), _plain(downstream), output, target)

    def __str__(self) -> str:
        """Return what :meth:`parse` reads."""
        upstream, downstream = escaped(self.upstream), escaped(self.downstream)
        if self.upstream_port != ANY_PORT:
            upstream += f".{self.upstream_port}"
        if self.downstream_port != ANY_PORT:
            downstream += f".{self.downstream_port}"
        return f"{upstream}:{downstream}"


class Plan(NamedTuple):
    """Components and their connections."""

    components: Sequence[ComponentSpec]
    """The components, in the order in which they are made."""
    connections: Sequence[Connection]
    """The connections; the first one that fits a port counts."""
    mip_version: int = 0
    """The version of the message interchange protocol of Babeltrace 2."""
    stream_intersection: bool = False
    """Whether only the time counts in which all data streams of a trace are active."""
    retry_duration: float | None = None
    """How long to wait for a source that has nothing yet, seconds; ``None``: as long as
    Babeltrace 2 does."""


def escaped(name: str) -> str:
    """Return a name of a component as it stands in a connection.

    Args:
        name: The name.
    """
    return "".join(f"\\{one}" if one in "\\.:" else one for one in name)


def _split(text: str, sign: str) -> list[str]:
    """Split at a sign that has no backslash before it."""
    parts = [""]
    rest = iter(text)
    for character in rest:
        if character == sign:
            parts.append("")
        else:
            parts[-1] += character
            if character == "\\":
                parts[-1] += next(rest, "")
    return parts


def _plain(name: str) -> str:
    """Take backslashes away that :func:`escaped` has put there."""
    plain = ""
    rest = iter(name)
    for character in rest:
        following = next(rest, "") if character == "\\" else ""
        is_escape = following != "" and following in "\\.:"
        plain += following if is_escape else character + following
    return plain


def _pattern(found: Sequence[str]) -> str | None:
    if not found:
        return ANY_PORT
    return found[0] if is_port_pattern(found[0]) else None


def _not_a_connection(text: str) -> GraphError:
    return GraphError(
        f"'{text}' is no connection: expected UPSTREAM[.PORT]:DOWNSTREAM[.PORT]"
    )
