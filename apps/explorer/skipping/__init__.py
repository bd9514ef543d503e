"""The page of the files that a condition reads."""
