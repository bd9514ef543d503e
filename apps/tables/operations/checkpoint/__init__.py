"""The operation that writes a checkpoint."""
