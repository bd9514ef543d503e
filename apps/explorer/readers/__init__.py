"""Who can read a table."""
