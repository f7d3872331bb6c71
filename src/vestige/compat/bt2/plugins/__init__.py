"""Plugins: those that are built in, files and distributions; queries."""
