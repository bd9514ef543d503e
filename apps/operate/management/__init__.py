"""The commands of those who run a server."""
