"""One commit."""
