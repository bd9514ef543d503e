"""Backups of a server, each one sealed file, restored into any database engine.

Read `sealed` (the bytes of the file), `lines` (the document in it), `rows` (values of
models), then `writing`, `restoring` and `restored` (what a restored server leaves off).
"""
