"""The log of a table: the files that hold a version, and their replay."""
