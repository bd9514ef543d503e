"""The command `user`."""
