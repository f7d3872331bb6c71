"""Writing CTF traces: declarations, metadata, event records."""
