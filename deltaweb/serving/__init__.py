"""How the web server runs: its supervisor, its worker, and the bodies it takes in."""
