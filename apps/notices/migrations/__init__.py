"""The database migrations of notices."""
