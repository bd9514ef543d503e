"""The commands `deltaweb share`, `deltaweb recipient` and `deltaweb received`."""
