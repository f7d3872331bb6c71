"""Sending recordings to relay daemons, by LTTng's protocol.

What is recorded is written as always, but to a directory in memory, the *spool*. One
thread for each recording sends what is complete there, and gives its memory back once
the relay daemon has confirmed it.
"""
