"""The operations on a table: each has a preview and is carried out by the same code."""
