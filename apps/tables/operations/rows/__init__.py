"""The operations that delete, update and merge rows, in process or on Spark."""
