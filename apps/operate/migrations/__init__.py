"""The database migrations of operations."""
