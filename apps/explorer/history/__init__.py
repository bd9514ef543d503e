"""The commits of a table."""
