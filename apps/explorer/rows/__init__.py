"""The rows of a version."""
