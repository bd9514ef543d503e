"""The head of every page of a table: its state, its version and its timeline."""
