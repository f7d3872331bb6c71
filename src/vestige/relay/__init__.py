"""The relay daemon: trace data of other machines, received and written to files.

It speaks the relay protocol of LTTng 2.13: session daemons and consumers send commands
on one connection and packets on another.
"""
