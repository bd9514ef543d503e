"""The switches, probes, metrics and request ids of those who run a server."""
