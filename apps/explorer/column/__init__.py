"""The page of one column of a version, with the profile of its values."""
