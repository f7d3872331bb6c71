"""The command line: a module a verb in ``commands``, output helpers in ``render``."""
