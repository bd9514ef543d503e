"""The operation that undoes one commit."""
