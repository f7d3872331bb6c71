"""Triggers: conditions, what is done when they are satisfied, and who is told."""
