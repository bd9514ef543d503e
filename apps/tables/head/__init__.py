"""The head of every page of a table: its state, version and timeline."""
