"""Data files that tasks read: dealt out to them, and looked into by their footers."""
