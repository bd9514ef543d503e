"""The registries through which apps above add to the pages of a table."""
