"""What 'vestige record' puts before the program: any Python imports it when it starts.

It is gone from sys.path and sys.modules when the program begins. It must run, and do
nothing, on any version of Python.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

sys.path[:] = [path for path in sys.path if path != HERE]
sys.path_importer_cache.pop(HERE, None)
try:
    if sys.version_info >= (3, 11):
        # Under a name of its own: the program may have another version, or none.
        PACKAGE = type(sys)("_vestige_instrument")
        PACKAGE.__path__ = [os.path.dirname(HERE)]
        sys.modules[PACKAGE.__name__] = PACKAGE
        from _vestige_instrument._startup import start  # type: ignore[import-not-found]

        start()
except Exception:
    # The program runs as it would without a recorder.
    pass

del sys.modules["sitecustomize"]
# The program's own one, or an error as if this one had never been there.
import sitecustomize  # type: ignore[import-not-found] # noqa: E402, F401
