"""Graphs that scripts put together, their components and ports."""
