"""The operation that deletes files that no kept version needs."""
