"""The callers of the protocol, and the tables that each may read."""
