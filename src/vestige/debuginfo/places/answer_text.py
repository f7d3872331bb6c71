"""Answers of one object's symbol table as text, for lines of addresses.

The core reads the lines and writes the answers: there is no object for each, so that
tens of thousands of addresses take a fraction of a second. Single answers are written
by the same code.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from ... import core
from ..._typing import TYPE_CHECKING, NamedTuple, cast
from ...errors import DebugInfoError
from ..found_files import FoundFiles
from ..object_file import SymbolReader
from ..unresolved import TABLE_REASONS, Reason, Unresolved
from .formatting import encodable_text

if TYPE_CHECKING:
    from .symbolized import Symbolized

__all__ = ["NO_ADDRESS", "AnswerForm", "Answers", "TextAnswers", "answer_text"]

NO_ADDRESS = "no hexadecimal address"
"""Why there is no answer for a line that holds something else."""

Answers = tuple[bytes, list[int]]
"""The text, and the numbers, from 0, of lines that are no address."""


class AnswerForm(NamedTuple):
    """How answers are written: like ``addr2line``, for people, or else as JSON."""

    addr2line: tuple[bool, bool, bool, bool, bool, bool] | None = None
    """Functions, inlined calls, addresses, base names, demangled names, a line each."""

    people: tuple[bool, bool] | None = None
    """Demangled names, reasons."""


class TextAnswers:
    """Answers about one object.

    Args:
        path: Its path, as the user gave it.
        files: Its files.
        table: Its symbol table.
        form: The form of answers.
    """

    def __init__(
        self, path: str, files: FoundFiles, table: SymbolReader, form: AnswerForm
    ) -> None:
        # Other programs may bring tables that only look up.
        answer = getattr(table, "answer", None)
        self._answer = cast(
            "Callable[[bytes, core.AnswerWriter], Answers] | None", answer
        )
        reasons = {
            **{name: reason.value for name, reason in TABLE_REASONS.items()},
            "no-line": str(Unresolved(Reason.NO_LINE, files.source.value)),
            "no-address": NO_ADDRESS,
        }
        self._writer = _writer(path, files, form, reasons)

    def answer(self, text: bytes) -> Answers | None:
        """Answer for each line of a text.

        Args:
            text: The lines; the last has no newline.

        Returns:
            The answers, or ``None`` when they must be looked up one by one.
        """
        if self._answer is None:
            return None
        try:
            return self._answer(text, self._writer)
        except DebugInfoError:
            # Single answers have the reason.
            return None


def answer_text(answer: Symbolized, form: AnswerForm) -> bytes:
    """Write one answer.

    Args:
        answer: The answer.
        form: Its form.

    Returns:
        Its lines, each with its newline.
    """
    place = answer.place
    texts = [
        (_text(one.function), _text(one.file), one.line, _text(one.linkage_name))
        for one in answer.frames
    ]
    has_function = place is not None and place.function is not None
    return _writer(answer.object or "", answer.files, form, {}).write(
        answer.address,
        has_object=answer.object is not None,
        function=(_text(place.function) or "", place.offset)
        if place is not None and has_function
        else None,
        frames=texts,
        column=None if place is None else place.column,
        reason=answer.reason,
    )


def _text(text: str | None) -> str | None:
    # What is stored with a trace may hold anything.
    return None if text is None else encodable_text(text)


def _writer(
    path: str, files: FoundFiles | None, form: AnswerForm, reasons: dict[str, str]
) -> core.AnswerWriter:
    known = None if files is None else files.object or files.debug
    return core.AnswerWriter(
        bits=64 if known is None else known.bits,
        name=os.fsencode(path.rpartition("/")[2] or path),
        json=("", "", "") if any(form) else _json_facts(path, files),
        reasons=reasons,
        **form._asdict(),
    )


def _json_facts(path: str, files: FoundFiles | None) -> tuple[str, str, str]:
    import json  # noqa: PLC0415 - for this form only

    known = None if files is None else files.object or files.debug
    build_id = None if known is None else known.build_id
    return (
        json.dumps(path),
        json.dumps(None if build_id is None else build_id.hex()),
        json.dumps(None if files is None else files.source.value),
    )
