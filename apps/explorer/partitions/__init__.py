"""The partitions of a version."""
