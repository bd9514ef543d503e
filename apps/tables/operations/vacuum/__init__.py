"""Files that a table no longer needs are deleted."""
