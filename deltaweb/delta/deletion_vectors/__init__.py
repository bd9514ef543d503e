"""Rows that are deleted beside their data file: which they are, and who says so."""
