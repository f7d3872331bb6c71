"""Filter components."""
