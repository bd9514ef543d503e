"""The data files of a write: rows dealt out to partitions, and each file written."""
