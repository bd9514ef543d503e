"""Users, roles, sign-in links and API keys."""
