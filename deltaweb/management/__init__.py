"""Management commands of the whole installation."""
