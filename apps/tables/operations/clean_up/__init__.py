"""History of a log that has expired is deleted."""
