"""The build of an index, in full or from the new commits only."""
