"""The commits of all tables, by day."""
