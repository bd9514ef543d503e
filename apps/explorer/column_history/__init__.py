"""The fields of a table through all versions of its schema."""
