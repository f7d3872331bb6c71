"""Finding and opening CTF traces."""
