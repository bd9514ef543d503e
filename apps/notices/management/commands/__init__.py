"""The commands of notifications."""
