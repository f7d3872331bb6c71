"""``python -m vestige`` is the ``vestige`` command."""

from __future__ import annotations

from .cli.start import entry_point

if __name__ == "__main__":
    entry_point()
