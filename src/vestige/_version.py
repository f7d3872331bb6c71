"""The version, in one place for Python; a test compares it with the other manifests."""

from __future__ import annotations

__version__ = "0.1.0"
