"""One column of a version, and the profile of its values."""
