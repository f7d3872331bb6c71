"""A filter that lets everything pass: what a component in Python costs."""

from __future__ import annotations

import bt2


class PassingIterator(bt2._UserMessageIterator):
    """Gives what comes in."""

    def __init__(self, _configuration, _port):
        self._messages = self._create_message_iterator(
            self._component._input_ports["in"]
        )

    def __next__(self):
        return next(self._messages)


@bt2.plugin_component_class
class All(bt2._UserFilterComponent, message_iterator_class=PassingIterator):
    """Lets everything pass."""

    def __init__(self, _configuration, _params, _object):
        self._add_input_port("in")
        self._add_output_port("out")


bt2.register_plugin(module_name=__name__, name="pass")
