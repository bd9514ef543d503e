"""The management commands of the catalog."""
