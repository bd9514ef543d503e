"""What workers do for tables."""
