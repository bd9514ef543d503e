"""The Delta transaction log as plain Python values."""
