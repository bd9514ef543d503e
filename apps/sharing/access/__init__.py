"""Who a caller of the protocol is, from where it may call, and what it may read."""
