"""Traces as Dask data frames: :func:`read`; needs the extra ``dask``."""

from __future__ import annotations

from .trace.dask import read

__all__ = ["read"]
