"""Reading small XML documents without surprises."""

from __future__ import annotations

from xml.parsers.expat import ExpatError, ParserCreate, XMLParserType

from ..errors import VestigeError
from .xml_tree import Element

__all__ = ["parse_xml"]

MOST_ELEMENTS = 1_000_000
DEEPEST = 64


def parse_xml(text: str | bytes, path: str | None = None) -> Element:
    """Read a document.

    Args:
        text: All of it.
        path: Where it comes from, for errors.

    Returns:
        Its outermost element.

    Raises:
        VestigeError: It is none, or it declares a document type: entities could stand
            for other files, or for more than memory holds.
    """
    parser = ParserCreate()
    root = Element("")
    open_elements = [root]
    count = 0

    def begin(name: str, _attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > MOST_ELEMENTS or len(open_elements) > DEEPEST:
            raise VestigeError("expected a smaller document", path=path)
        one = Element(name.rpartition(":")[2])
        open_elements[-1].children.append(one)
        open_elements.append(one)

    def end(_name: str) -> None:
        open_elements.pop()

    def characters(data: str) -> None:
        open_elements[-1].text = (open_elements[-1].text or "") + data

    def doctype(*_facts: object) -> None:
        raise VestigeError("expected no document type", path=path)

    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = doctype
    _run(parser, text, path)
    return root.children[0]


def _run(parser: XMLParserType, text: str | bytes, path: str | None) -> None:
    parser.buffer_text = True
    try:
        parser.Parse(text, True)  # noqa: FBT003 - it takes no names
    except (ExpatError, ValueError) as error:
        raise VestigeError(f"expected XML: {error}", path=path) from error
