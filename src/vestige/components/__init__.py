"""The component classes: sources, filters and sinks, one file each.

They are named as Babeltrace 2 names its own: ``ctf_fs`` is ``source.ctf.fs``,
``debug_info`` is ``filter.lttng-utils.debug-info``, ``text_pretty`` is
``sink.text.pretty``, ``dummy`` is ``sink.utils.dummy``.
"""
