"""serve, web, worker, beat."""
