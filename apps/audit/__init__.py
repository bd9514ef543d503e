"""The append-only record of calls and of changes by people."""
