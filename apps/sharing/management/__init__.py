"""The management commands of the sharing app."""
