"""The pages of accounts: signing in, one's own account, administration."""
