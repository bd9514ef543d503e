"""Shares, the recipients they are granted to, and the protocol they are read by."""
