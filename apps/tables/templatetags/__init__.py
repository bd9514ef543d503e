"""The template tags of the catalog."""
