"""The operations that create, convert and import tables: one file for each."""
