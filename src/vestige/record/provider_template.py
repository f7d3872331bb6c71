"""Provider templates: tracepoint definitions without what goes around them.

lttng-gen-tp(1) describes the format: definitions as in a provider header, comments as
in C, and lines that begin with ``#``. What it does is done here: a header, a source
file and an object file are made of a template.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from ..errors import RecordError

__all__ = ["header_text", "provider_name", "source_text"]

_DIRECTIVE = re.compile(
    r"#(include|define|undef|if|ifdef|ifndef|elif|else|endif|pragma|error|warning)\b"
)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\\\n", re.DOTALL)
_DEFINITION = re.compile(
    r"\b((?:LTTNG_UST_)?TRACEPOINT_(?:EVENT|EVENT_CLASS|EVENT_INSTANCE|ENUM|LOGLEVEL|"
    r"MODEL_EMF_URI))\s*\(\s*(\w+)\s*,"
)

_HEADER = """\
/* Made from {template} by 'vestige gen-tp'; changes will be lost. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER {provider}

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./{header}"

#if !defined({guard}) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define {guard}

#include <lttng/tracepoint.h>

{definitions}
#endif /* {guard} */

#include <lttng/tracepoint-event.h>
"""

_SOURCE = """\
/* Made from {template} by 'vestige gen-tp'; changes will be lost. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "{header}"
"""


def provider_name(text: str, template: Path) -> str:
    """Return the provider of a template's definitions.

    Args:
        text: The template.
        template: Where it is from.

    Returns:
        The name.

    Raises:
        RecordError: There is no definition, or definitions of several providers.
    """
    plain = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), _kept_lines(text))
    provider: str | None = None
    for found in _DEFINITION.finditer(plain):
        if provider is None:
            provider = found[2]
        elif found[2] != provider:
            line = plain.count("\n", 0, found.start()) + 1
            raise RecordError(
                f"line {line}: {found[1]} of provider '{found[2]}': a template has "
                f"one provider, and that is '{provider}' above",
                path=template,
            )
    if provider is None:
        raise RecordError(
            "no definition: expected LTTNG_UST_TRACEPOINT_EVENT(provider, name, ...)",
            path=template,
        )
    return provider


def header_text(text: str, template: Path, header: Path) -> str:
    """Return the provider header of a template.

    Args:
        text: The template.
        template: Where it is from.
        header: Where the header will be.

    Returns:
        The text.

    Raises:
        RecordError: See `provider_name`.
    """
    provider = provider_name(text, template)
    guard = "VESTIGE_GEN_TP_" + re.sub(r"\W", "_", f"{provider}_{header.name}").upper()
    return _HEADER.format(
        template=template.name,
        provider=provider,
        header=header.name,
        guard=guard,
        definitions=_kept_lines(text),
    )


def source_text(template: Path, source: Path, header: Path) -> str:
    """Return the source file of a provider package.

    Args:
        template: Where the template is from.
        source: Where the source file will be.
        header: Where the header is.

    Returns:
        The text.
    """
    return _SOURCE.format(
        template=template.name, header=os.path.relpath(header, source.parent)
    )


def _kept_lines(text: str) -> str:
    # Lines that begin with # are comments unless the preprocessor knows them; line
    # numbers stay.
    return "\n".join(
        "" if line.startswith("#") and not _DIRECTIVE.match(line) else line
        for line in text.split("\n")
    )
