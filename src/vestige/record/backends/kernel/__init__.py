"""Recording the kernel through its own tracefs, without modules.

A process of its own has the rights (``collector_process``); what asks for it is
``domain``. The other modules say what there is (``formats``, ``lttng_names``,
``system_calls``) and what is written of it (``event_classes``, ``metadata``).
"""
