"""The template tags of every page."""
