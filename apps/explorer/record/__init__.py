"""The page of one row."""
