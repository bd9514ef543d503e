"""The frame of administrative changes.

A `Change` is declared once. Its form, command, REST endpoint and audit record are made
from the declaration.
"""
