"""Changes of follows and of webhooks."""
