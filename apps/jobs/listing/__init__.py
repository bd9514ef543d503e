"""The list of jobs: rows, filters, and failures grouped by cause."""
