"""A checkpoint of a version of a log."""
