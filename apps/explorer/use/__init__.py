"""The page "Use this table": the shown view of a table as code."""
