"""The commits of a log, parsed in batches into Arrow columns."""
