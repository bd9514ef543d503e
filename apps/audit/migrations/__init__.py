"""The database migrations of the audit record."""
