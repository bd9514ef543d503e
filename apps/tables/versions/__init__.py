"""The versions of a table: readable or not, missing files, changes between them."""
