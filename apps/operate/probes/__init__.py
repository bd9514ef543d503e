"""The probes `/livez` and `/readyz`, and the parts of a server that they look at."""
