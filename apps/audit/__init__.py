"""The append-only record of calls and of what administrators change."""
