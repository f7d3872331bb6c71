"""What components in Python derive from, and what brings them into a graph."""
