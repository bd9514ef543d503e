"""The page that follows the columns of a table through all its schemas."""
