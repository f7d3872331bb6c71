"""Runs the guide that follows a request through nginx and the kernel."""

from __future__ import annotations

import shutil
from pathlib import Path

from support.document_session import Session, blocks
from support.kernel_tracer import why_not
from support.ports import free_ports

__all__ = ["GUIDE", "play_request_guide", "why_no_requests"]

GUIDE = Path(__file__).parents[2] / "docs/guide/request.md"
_PORT = "8089"


def why_no_requests() -> str | None:
    """Return why the guide cannot be played here; ``None`` if it can."""
    for tool in ("nginx", "curl"):
        if shutil.which(tool) is None and not Path("/usr/sbin", tool).exists():
            return f"not installed: {tool}"
    reason = why_not()
    return None if reason is None else f"no kernel tracer: {reason}"


def play_request_guide(directory: Path, sources: Path | None = None) -> list[str]:
    """Run its commands, one block after the other.

    Args:
        directory: Where.
        sources: Those of nginx, with the program; without them, what needs them is
            left out.

    Returns:
        What each block printed.
    """
    port = str(*free_ports(1))
    session = Session(directory)
    printed = []
    for block in blocks(GUIDE):
        if block.language != "sh":
            continue
        if block.needs == "source packages":
            # They take minutes to build: somebody has.
            if sources is not None:
                session.run(f"ln -s {sources} {sources.name}")
            continue
        if block.needs == "sources" and sources is None:
            continue
        printed.append(session.run(block.text.replace(_PORT, port)))
    return printed
