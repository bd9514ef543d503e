"""Two versions of a table, compared."""
