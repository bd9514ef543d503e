"""The operation that compacts small files or clusters rows."""
