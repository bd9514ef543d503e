"""Rows are changed or removed: files that hold some are written again without them."""
