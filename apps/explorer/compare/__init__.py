"""The page that compares two versions of a table."""
