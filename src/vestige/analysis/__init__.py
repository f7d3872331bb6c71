"""What is worked out from whole traces: whether they are sound, and what is left."""
