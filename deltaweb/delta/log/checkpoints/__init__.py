"""The checkpoints of a log, read by column and part by part."""
