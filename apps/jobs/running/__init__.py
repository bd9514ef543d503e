"""A job while it runs: its lease, its progress, and how it is told to stop."""
