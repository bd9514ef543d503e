"""The switches by which administrators stop sign-in, sharing, jobs or writes."""
