"""Rehearsals: the clients that recipients use read all that one of them may read.

client_program  one client, in a process of its own
rehearsal       all clients and all tables, by a token of minutes
certificates    what came of the last one, and since when a client is broken
nightly         the job, by button and by the clock
"""
