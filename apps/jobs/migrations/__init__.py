"""The database migrations of jobs."""
