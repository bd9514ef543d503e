"""The database migrations of the sharing app."""
