"""The doctor of a set-up: its checks, and what to do about what they find."""
