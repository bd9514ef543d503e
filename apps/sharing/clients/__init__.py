"""Clients of the protocol: what of a table they can read, and the code to do it."""
