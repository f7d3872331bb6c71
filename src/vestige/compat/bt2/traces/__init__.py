"""What messages are about: traces, streams, packets, event classes, clocks."""
