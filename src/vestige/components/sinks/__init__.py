"""Sink components."""
