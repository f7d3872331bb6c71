"""What is said at the end of a recording: what it holds, and what it lacks."""
