"""The REST endpoints of shares, recipients, tokens and the activity record."""
