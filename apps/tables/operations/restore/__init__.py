"""A version of before becomes the newest one again."""
