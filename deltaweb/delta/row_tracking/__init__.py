"""The ids of rows: what the log says of them, and those that new rows get."""
