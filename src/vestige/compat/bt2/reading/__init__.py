"""Reading traces message by message."""
