"""A table at the version that a page shows: what is known of it, and its files."""
