"""The history in an index: one row for each commit, and the totals after it."""
