"""Source components."""
