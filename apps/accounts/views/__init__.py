"""The pages of accounts: signing in, your own account, administration."""
