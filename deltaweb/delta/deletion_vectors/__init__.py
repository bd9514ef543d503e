"""The deletion vectors of data files: the rows that each marks as deleted."""
