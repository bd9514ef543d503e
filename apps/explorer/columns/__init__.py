"""The columns of a version: their tree, addresses and statistics."""
