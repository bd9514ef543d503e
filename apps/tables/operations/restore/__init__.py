"""The operation that makes an older version the newest one again."""
