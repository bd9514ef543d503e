"""The template tags of the pages over a table."""
