"""Symbol tables that were read before: the cache, and symbols packed with a trace."""
