"""The page of the files of a version."""
