"""`deltaweb share ...` and `deltaweb recipient ...`."""
