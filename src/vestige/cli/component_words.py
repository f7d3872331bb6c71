"""Components and connections as words of a command line, and the plan they stand for.

``vestige run`` has these words; ``vestige convert`` makes them of its own, and prints
them with ``--run-args``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from .._typing import TYPE_CHECKING, NamedTuple
from ..components.registry import full_class_name
from ..errors import CommandError, GraphError
from ..graph.plan import ComponentSpec, Connection, Plan
from .general_options import LOG_LEVELS

if TYPE_CHECKING:
    from .params import ParamValue

__all__ = [
    "ComponentWords",
    "GraphWords",
    "ImplicitComponent",
    "Names",
    "PathWords",
    "Value",
    "connection",
    "named_class",
    "print_words",
    "shell_quoted",
]

PLAIN = frozenset("@%+=:,./-_")
"""Signs that stand for themselves in a shell."""


class Value(NamedTuple):
    """A parameter with its value, and how both are written."""

    name: str
    """The name."""
    value: ParamValue
    """The value."""
    text: str
    """What stands for the value in ``--params``."""

    @classmethod
    def of(cls, name: str, value: str | list[str]) -> Value:
        """Return a parameter.

        Args:
            name: Its name.
            value: Its value.
        """
        if isinstance(value, str):
            return cls(name, value, quoted(value))
        return cls(name, [*value], f"[{', '.join(map(quoted, value))}]")

    def __str__(self) -> str:
        """Return it as it stands in ``--params``."""
        return f"{self.name}={self.text}"


class ComponentWords:
    """A component as a command line has it.

    Args:
        name: Its name.
        class_text: Its class, as it is written there.
        written: Name and class, as they are written there.
    """

    def __init__(self, name: str, class_text: str, written: str | None = None) -> None:
        self.name = name
        self.class_text = class_text
        self._written = written or f"{name}:{class_text}"
        self.settings: list[tuple[str, str]] = []
        """What follows it: options with their values, in their order."""
        self._values: dict[str, dict[str, ParamValue]] = {}
        """The parameters that are known without reading their words, by these."""

    def add_params(self, text: str) -> None:
        """Add parameters.

        Args:
            text: The argument of ``--params``.
        """
        self.settings.append(("--params", text))

    def add_values(self, *values: Value) -> None:
        """Add parameters whose values are known, as one word.

        Args:
            values: The parameters.
        """
        text = ",".join(map(str, values))
        self._values[text] = {one.name: one.value for one in values}
        self.add_params(text)

    def follow(self, other: ComponentWords) -> None:
        """Add what follows another component.

        Args:
            other: The other one.
        """
        self.settings += other.settings
        self._values |= other._values

    def add_log_level(self, text: str) -> None:
        """Set the log level.

        Args:
            text: The argument of ``--log-level``.
        """
        self.settings.append(("--log-level", text))

    @property
    def class_name(self) -> str:
        """The name of its class, without abbreviations."""
        return full_class_name(self.class_text) or self.class_text

    @property
    def kind(self) -> str:
        """What it is: ``source``, ``filter`` or ``sink``."""
        return self.class_name.partition(".")[0]

    def words(self) -> Iterator[str]:
        """Return the words of a command line of ``run``."""
        yield from ("--component", self._written)
        for option, value in self.settings:
            yield from (option, value)

    def spec(self) -> ComponentSpec:
        """Return the same as data.

        Raises:
            CommandError: Parameters are malformed.
        """
        params: dict[str, ParamValue] = {}
        level = None
        for option, value in self.settings:
            if option == "--params":
                params.update(self._params(value))
            elif option == "--log-level":
                level = LOG_LEVELS[value]
        return ComponentSpec(self.name, self.class_name, params, level)

    def _params(self, text: str) -> dict[str, ParamValue]:
        if text in self._values:
            return self._values[text]
        # Most command lines name no parameters.
        from .params import parse_params

        return parse_params(text)


class PathWords:
    """A path or URL, and what follows it in the command line.

    Args:
        path: The path.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.params: list[str] = []
        """Parameters of its source."""
        self.log_level: str | None = None
        """The log level of its source."""


class ImplicitComponent:
    """A component that options ask for.

    Args:
        class_name: Its class.
        name: Its name, unless another one has it.
    """

    def __init__(self, class_name: str, name: str) -> None:
        self.class_name = class_name
        self.name = name
        self.is_wanted = False
        """Whether it is asked for."""
        self.switches: list[Value] = []
        """Parameters that stand together."""
        self.params: list[Value] = []
        """Parameters that stand alone."""

    def add(self, name: str, value: str | list[str]) -> None:
        """Want it, with a parameter that stands alone."""
        self.is_wanted = True
        self.params.append(Value.of(name, value))

    def words(self, names: Names) -> ComponentWords:
        """Return it with a name that no other component has."""
        words = ComponentWords(names.take(self.name), self.class_name)
        if self.switches:
            words.add_values(*self.switches)
        for value in self.params:
            words.add_values(value)
        return words


class Names:
    """The names of components, each of which only one has."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def keep(self, name: str) -> str:
        """Note a name that somebody has chosen."""
        if name in self._taken:
            raise CommandError(
                f"--component: there are two components called '{name}'", exit_code=2
            )
        self._taken.add(name)
        return name

    def take(self, prefix: str) -> str:
        """Return a name that is free."""
        name, number = prefix, 0
        while name in self._taken:
            name, number = f"{prefix}-{number}", number + 1
        self._taken.add(name)
        return name


class GraphWords(NamedTuple):
    """What a command line of ``run`` says."""

    components: list[ComponentWords]
    """The components, in their order."""
    connections: list[Connection]
    """The connections, in their order."""
    others: list[str]
    """Words before the first component."""

    def words(self) -> list[str]:
        """Return the words of a command line of ``run``."""
        words = [*self.others]
        for component in self.components:
            words += component.words()
        for connection in self.connections:
            words += ["--connect", str(connection)]
        return words

    def plan(self, *, stream_intersection: bool = False) -> Plan:
        """Return the same as data.

        Args:
            stream_intersection: Whether only the time counts in which all data streams
                of a trace are active.

        Raises:
            CommandError: Parameters are malformed.
        """
        return Plan(
            [component.spec() for component in self.components],
            self.connections,
            stream_intersection=stream_intersection,
        )


def named_class(text: str) -> tuple[str | None, str]:
    """Split ``[NAME:]TYPE.PLUGIN.CLASS``.

    Args:
        text: The argument of ``--component``.

    Returns:
        The name, if there is one, and the rest.

    Raises:
        CommandError: It has another form.
    """
    name = ""
    rest = iter(text)
    for sign in rest:
        if sign == ":":
            found = "".join(rest)
            break
        following = next(rest, "") if sign == "\\" else ""
        name += following if following and following in ".:\\" else sign + following
    else:
        name, found = "", text
    if full_class_name(found) is None or not text.isprintable():
        raise CommandError(
            f"--component: expected [NAME:]TYPE.PLUGIN.CLASS, not '{text}'", exit_code=2
        )
    return name or None, found


def connection(text: str) -> Connection:
    """Return the connection that ``--connect`` asks for.

    Args:
        text: Its argument.

    Raises:
        CommandError: It has another form.
    """
    try:
        return Connection.parse(text)
    except GraphError as error:
        raise CommandError(f"--connect: {error}", exit_code=2) from None


def print_words(words: GraphWords, *, for_shells: bool) -> None:
    """Print the words of a command line of ``run``, without a line break at the end.

    Args:
        words: The words.
        for_shells: Whether they are quoted for a shell, not joined by null characters.
    """
    found = words.words()
    if for_shells:
        sys.stdout.write(" ".join(map(shell_quoted, found)))
    else:
        sys.stdout.write("\0".join(found))


def quoted(text: str) -> str:
    """Return a string as it stands in ``--params``.

    Args:
        text: The string.
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def shell_quoted(word: str) -> str:
    """Return a word as a shell reads it, with quotes only where it needs them.

    Args:
        word: The word.
    """
    if word and all((one.isascii() and one.isalnum()) or one in PLAIN for one in word):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"
