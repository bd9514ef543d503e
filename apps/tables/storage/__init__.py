"""Where tables may be, and with which options their storage is read."""
