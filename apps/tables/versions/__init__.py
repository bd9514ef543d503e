"""The versions of a table: which can be read, which lack files, what changed."""
