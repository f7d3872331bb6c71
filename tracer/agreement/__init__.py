"""What the recorder and the tracer agree on, said once.

The recorder is Python, the tracer C, and what drains memory may be Rust. They meet in files and in one
environment variable. Each module here describes a part of that, in the words of
:mod:`agreement.terms`:

================  ==============================================================
``packet``        packet header and context, the header of event records
``events``        the event record classes of every recording, in the order of their IDs
``contexts``      what records can carry besides, and the counters
``filters``       the byte code of filters, and the file of rules
``files``         the names of files
``skipped``       events of LTTng-UST that are left out, and why
``arena``         the memory that traced programs share with the collector
``plan``          how the entries of functions are rewritten
``probes``        functions of which arguments and results are recorded
``settings``      the words that the recorder writes for the tracer
================  ==============================================================

``tools/make_agreement.py`` prints them as ``agreement.h``, ``arena.h`` and ``plan.h``, as Python modules and as
Rust modules. Those are committed; ``make agreement`` makes them anew, and ``make lint`` refuses
others. The fingerprint of all of it goes with every recording: see :mod:`agreement.settings`.
"""
