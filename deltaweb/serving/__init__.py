"""The web server: its supervisor, its worker processes and its request bodies."""
