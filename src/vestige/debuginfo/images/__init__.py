"""Which object is mapped where: at a point of a trace, in a process that runs."""
