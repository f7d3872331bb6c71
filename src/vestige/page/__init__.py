"""The page: a trace to look at, in a browser, as one file or from a server.

:mod:`.one_file` writes it with the data in it; :mod:`.facts` makes the part of the data that
is JSON. What the browser runs is in ``web/``: modules of the language's own form, and a canvas;
nothing is asked of anywhere else. ``docs/formats/page.md`` describes the data.
"""
