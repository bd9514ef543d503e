"""A view of a table as code."""
