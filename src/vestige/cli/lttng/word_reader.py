"""Command lines of which a part has options of its own, as those of triggers have.

An option with a value takes what follows ``=``, or the next word whatever it is. Words
have numbers, which errors name: those of LTTng, where the verb is the first.
"""

from __future__ import annotations

from ..._typing import TYPE_CHECKING, NamedTuple
from .options import NONE, Option

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Item", "MissingValueError", "WordError", "WordReader"]


class WordError(Exception):
    """A word that has no place where it is."""


class MissingValueError(WordError):
    """An option that needs a value is the last word.

    Args:
        text: What is wrong.
        option: The name of the option.
    """

    def __init__(self, text: str, option: str) -> None:
        super().__init__(text)
        self.option = option


class Item(NamedTuple):
    """An option, or another word."""

    name: str | None
    """Of the option, without its dashes; ``None`` if it is another word."""

    value: str
    """Of the option; or the word."""

    number: int
    """Of the word."""

    word: str
    """As it was written."""


class WordReader:
    """Reads words one by one.

    Args:
        words: What follows the verb.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._next = 0

    def take(
        self, options: Sequence[Option], context: str = "", *, is_last: bool = True
    ) -> Item | None:
        """Return the next option or word.

        Args:
            options: The options that there are here.
            context: What errors begin with.
            is_last: Whether all options must be known; otherwise one that is not ends
                this part, and is left where it is.

        Returns:
            What is next; ``None`` at the end.

        Raises:
            WordError: It is no option, or has a value that it should not have.
            MissingValueError: It has none that it should have.
        """
        if self._next == len(self._words):
            return None
        word = self._words[self._next]
        number = self._next + 2
        if len(word) < len("-x") or not word.startswith("-"):
            self._next += 1
            return Item(None, word, number, word)
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            option = next((one for one in options if one.name == name), None)
            shown = f"--{name}"
        else:
            name, value = word[1], word[2:]
            equals = value
            option = next((one for one in options if one.short == name), None)
            shown = f"-{name}"
        start = f"{context}While parsing argument #{number} (`{word}`): "
        if option is None:
            if not is_last:
                return None
            raise WordError(f"{start}Unknown option `{shown}`")
        self._next += 1
        if option.value == NONE:
            if equals:
                raise WordError(f"{start}Unexpected argument for option `{shown}`")
        elif not equals:
            if self._next == len(self._words):
                raise MissingValueError(
                    f"{start}Missing required argument for option `{word}`", option.name
                )
            value = self._words[self._next]
            self._next += 1
        return Item(option.name, value, number, word)
