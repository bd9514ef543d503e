"""The changes of a range of versions, row by row."""
