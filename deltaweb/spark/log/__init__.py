"""The replay of a log of any size by Spark tasks."""
