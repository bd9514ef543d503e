"""The Delta Sharing protocol over HTTP."""
