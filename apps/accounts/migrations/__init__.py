"""The database migrations of the accounts app."""
