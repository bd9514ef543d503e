"""The Delta Sharing protocol as values and pure functions."""
