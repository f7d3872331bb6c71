"""Elements of small XML documents, and writing them."""

from __future__ import annotations

from .._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Element", "element"]

MOST_DIGITS = 20
"""Of a number; 64 bits have no more."""


class Element:
    """An element: its name, its text or its children.

    Args:
        name: Without a name space.
        text: What stands in it, if no elements do.
        children: The elements in it.
    """

    def __init__(
        self, name: str, text: str | None = None, children: list[Element] | None = None
    ) -> None:
        self.name = name
        self.text = text
        self.children = [] if children is None else children

    def find(self, path: str) -> Element | None:
        """Return the first element of a path.

        Args:
            path: Names with ``/`` between them.
        """
        return next(self.all(path), None)

    def all(self, path: str) -> Iterator[Element]:
        """Yield all elements of a path.

        Args:
            path: Names with ``/`` between them.
        """
        name, _, rest = path.partition("/")
        for child in self.children:
            if child.name == name:
                yield from child.all(rest) if rest else [child]

    def value(self, path: str, default: str = "") -> str:
        """Return the text of an element.

        Args:
            path: Names with ``/`` between them.
            default: What is meant if it is not there.
        """
        found = self.find(path)
        return default if found is None else (found.text or "").strip()

    def text_of(self, path: str) -> str:
        """Return the text of an element with the spaces around it; empty for none.

        Args:
            path: Names with ``/`` between them.
        """
        found = self.find(path)
        return "" if found is None else found.text or ""

    def number(self, path: str, default: int) -> int:
        """Return the number that stands in an element.

        Args:
            path: Names with ``/`` between them.
            default: What is meant if it is not there.

        Raises:
            ValueError: There is something else.
        """
        found = self.value(path, str(default))
        digits = found.removeprefix("-")
        if not digits.isascii() or not digits.isdigit() or len(digits) > MOST_DIGITS:
            raise ValueError(f"{path}: expected a number, not '{found}'")
        return int(found)

    def lines(self, indent: str = "\t", depth: int = 0) -> Iterator[str]:
        """Yield the lines of the document of this element.

        Args:
            indent: What a level of nesting begins with.
            depth: How deep this element is.
        """
        start = indent * depth
        if self.children:
            yield f"{start}<{self.name}>"
            for child in self.children:
                yield from child.lines(indent, depth + 1)
            yield f"{start}</{self.name}>"
        elif self.text is None:
            yield f"{start}<{self.name}/>"
        else:
            yield f"{start}<{self.name}>{_escape(self.text)}</{self.name}>"

    def line(self) -> str:
        """Return the document of this element in one line."""
        return "".join(self.lines(""))


def element(name: str, *children: Element | str | int | None) -> Element:
    """Return an element.

    Args:
        name: Its name.
        children: Elements, of which ``None`` are left out; or one text.
    """
    if len(children) == 1 and isinstance(children[0], str | int):
        value = children[0]
        if isinstance(value, bool):
            value = "true" if value else "false"
        return Element(name, str(value))
    return Element(name, None, [one for one in children if isinstance(one, Element)])


_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;"}


def _escape(text: str) -> str:
    for sign, entity in _ENTITIES.items():
        text = text.replace(sign, entity)
    # What XML cannot have at all.
    return "".join(one if one >= " " or one in "\t\n\r" else "\ufffd" for one in text)
