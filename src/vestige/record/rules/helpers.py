"""The libraries that stand in for functions of the C library."""

from __future__ import annotations

__all__ = ["HELPERS"]

HELPERS = ("libc", "pthread", "dl")
"""Their names; each tells of every call.

The provider of their events is ``lttng_ust_`` and the name.
"""
