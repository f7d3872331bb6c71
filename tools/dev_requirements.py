"""Print the requirements of the extra ``dev``, one a line, as pip takes them."""

from __future__ import annotations

import tomllib
from pathlib import Path

MANIFEST = Path(__file__).resolve().parent.parent / "pyproject.toml"


def main() -> None:
    """Print the requirements."""
    manifest = tomllib.loads(MANIFEST.read_text(encoding="utf-8"))
    for requirement in manifest["project"]["optional-dependencies"]["dev"]:
        print(requirement)


if __name__ == "__main__":
    main()
