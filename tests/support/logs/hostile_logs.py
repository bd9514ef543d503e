"""Pieces of logs that are meant to harm, and a good one to put them beside."""

from tests.support.logs.delta_logs import add, commit_bytes, metadata, protocol

HUGE = b"9" * 5000
DEEP = b"[" * 100_000 + b"]" * 100_000
START = commit_bytes(protocol(), metadata(), add("good"))
