"""What apps above add to the pages of a table: each registers its own when ready."""
