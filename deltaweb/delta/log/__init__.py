"""The log of a table: which files hold a version, and how they are replayed."""
