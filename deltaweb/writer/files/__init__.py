"""The data files of a write: rows split by partition and size, and written."""
