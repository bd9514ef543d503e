"""One row as a record."""
