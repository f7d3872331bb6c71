"""Which files describe an object: where they may be, and whether they belong to it."""
