"""Checkpoints and clean-ups of a log: what they would do, and requests for them."""
