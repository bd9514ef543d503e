"""The step *What they see*: the rows and columns that each recipient reads."""
