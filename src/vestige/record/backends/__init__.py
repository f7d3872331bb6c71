"""How programs are recorded: each package is a back end that a session drives."""
