"""The channels that carry events between processes: Redis, PostgreSQL, or pipes."""
