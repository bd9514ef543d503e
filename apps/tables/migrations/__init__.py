"""The database migrations of the catalog."""
