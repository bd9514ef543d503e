"""How long sessions and API keys work, and when they are suspended."""
