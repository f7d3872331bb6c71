"""What is wanted of a recording: events, functions, contexts, sizes.

Nothing here knows how programs are recorded.
"""
