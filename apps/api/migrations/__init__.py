"""The database migrations of the REST API."""
