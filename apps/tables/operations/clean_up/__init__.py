"""The operation that deletes expired log files."""
