"""Template tags of the pages over a table."""
