"""The first page of a table."""
