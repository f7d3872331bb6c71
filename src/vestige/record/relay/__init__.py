"""Sending recordings to relay daemons, by LTTng's protocol.

What is recorded is written as always, but to a directory in memory, the *spool*. One
thread for each recording, the *sender*, sends what is complete there, and gives its
memory back once the relay daemon has confirmed it: what it sees of the spool
(:mod:`.spool_view`) goes on the wire (:mod:`.outgoing`) of a connection that may be
lost (:mod:`.link`), for which files are kept (:mod:`.kept_files`), until the chunk that
they are in ends there (:mod:`.chunk_end`); others wait for that (:mod:`.progress`).
"""
