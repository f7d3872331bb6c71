"""The page: a trace to look at in a browser, as one file or from a server.

:mod:`.assembly` puts it together, :mod:`.call_facts` and :mod:`.sources` make what it
shows. What the browser runs is in ``web/``: plain modules and a canvas; nothing is
asked of anywhere else.
"""
