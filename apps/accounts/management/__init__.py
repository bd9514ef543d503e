"""The management commands of the accounts app."""
