"""The row ids of row tracking: those in the log, and those that new rows get."""
