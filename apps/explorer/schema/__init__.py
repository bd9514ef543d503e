"""The page of the schema of a version, as a tree and as code."""
