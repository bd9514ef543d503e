"""The page of the rows of a version."""
