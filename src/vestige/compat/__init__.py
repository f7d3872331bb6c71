"""Other readers' Python modules, for scripts that exist.

Each is run in place of the module that it is compatible with, by
``python -m vestige.compat.NAME script.py``; none is imported under another name.
"""
