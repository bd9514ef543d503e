"""The template tags of sharing."""
