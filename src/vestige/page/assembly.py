"""Putting the files of the page together."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

__all__ = ["MODULES", "STYLE", "assembled", "file_of_page", "json_in_html"]

WEB = Path(__file__).parent / "web"
STYLE = "page.css"
MODULES = tuple(sorted(path.name for path in WEB.glob("*.js")))
"""The modules, as they import each other: ``vestige/NAME``."""

_BEGIN = 'import "vestige/main.js";'


@cache
def file_of_page(name: str) -> str:
    """Return a file that the page consists of.

    Args:
        name: Its name, one of :data:`MODULES`, :data:`STYLE` or ``page.html``.
    """
    return (WEB / name).read_text(encoding="utf-8")


def json_in_html(value: object) -> str:
    """Return JSON that can stand in an element of HTML, whatever its strings hold.

    Args:
        value: What JSON can hold.
    """
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True)
    return text.replace("<", "\\u003c")


def assembled(data: str, addresses: Mapping[str, str] | None = None) -> str:
    """Return the page.

    Args:
        data: Elements with the data; empty when a server has it.
        addresses: Where a server has the style sheet and each module, by their names;
            without them all are in the page itself.
    """
    html = file_of_page("page.html")
    if addresses is None:
        style = f"<style>\n{file_of_page(STYLE)}</style>"
        modules = {name: _as_address(file_of_page(name)) for name in MODULES}
    else:
        style = f'<link rel="stylesheet" href="{addresses[STYLE]}">'
        modules = {name: addresses[name] for name in MODULES}
    known = {f"vestige/{name}": address for name, address in modules.items()}
    imports = json_in_html({"imports": known})
    policy = _policy(imports, in_itself=addresses is None)
    scripts = (
        f'<script type="importmap">{imports}</script>\n'
        f'<script type="module">{_BEGIN}</script>'
    )
    return (
        html.replace("<!--STYLE-->", f"{policy}\n{style}")
        .replace("<!--SCRIPT-->", scripts)
        .replace("<!--DATA-->", data)
    )


def _as_address(script: str) -> str:
    packed = base64.b64encode(script.encode()).decode("ascii")
    return f"data:text/javascript;base64,{packed}"


def _policy(imports: str, *, in_itself: bool) -> str:
    """Return what the page forbids itself: to run or load what is not its own."""
    own = " ".join(_hash_of(script) for script in (imports, _BEGIN))
    # Sizes of canvases are set as styles by its own scripts, which is not restricted.
    rules = (
        f"script-src {own} data:; style-src 'unsafe-inline'"
        if in_itself
        else f"script-src {own} 'self'; style-src 'self'; connect-src 'self'"
    )
    content = f"default-src 'none'; {rules}; base-uri 'none'; form-action 'none'"
    return f'<meta http-equiv="Content-Security-Policy" content="{content}">'


def _hash_of(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return f"'sha256-{digest}'"
