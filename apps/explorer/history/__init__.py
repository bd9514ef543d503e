"""The page of the commits of a table."""
