"""Template tags of sharing."""
