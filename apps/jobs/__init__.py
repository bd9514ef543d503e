"""Runs of background work."""
