"""The index of a table, which pages and sharing read instead of the log.

`build` writes it, `folder` stores it, and `query` answers sharing requests from it. The
log stays the truth: a missing or stale index changes speed, never an answer.
"""
