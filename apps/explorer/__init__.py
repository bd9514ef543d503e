"""Read-only pages over one table."""
