"""The page that says which clients can read a table."""
