"""The version of a table that a page shows, with its facts and files."""
