"""The command `deltaweb switch`."""
