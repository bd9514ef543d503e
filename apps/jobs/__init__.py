"""The background jobs: their kinds, their runs, and their results."""
