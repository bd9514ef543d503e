"""The page of the partitions of a version."""
