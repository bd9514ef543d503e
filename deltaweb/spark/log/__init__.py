"""A log of any size, read and replayed by the tasks of Spark."""
