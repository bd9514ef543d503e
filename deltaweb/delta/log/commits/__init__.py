"""Commits, parsed in batches: file actions as columns, the rest by commit."""
