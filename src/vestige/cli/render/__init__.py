"""Text for people: summaries and numbers."""
