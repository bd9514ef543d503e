"""Rows as they are handed over, and as a table has them."""
