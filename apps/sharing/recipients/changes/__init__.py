"""The changes of a recipient: its settings, and its tokens."""
