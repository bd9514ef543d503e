"""Checkpoints, read by column name, part by part."""
