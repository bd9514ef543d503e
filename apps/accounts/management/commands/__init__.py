"""The command `deltaweb user`."""
