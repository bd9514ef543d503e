"""The HTTP endpoints of the Delta Sharing protocol."""
