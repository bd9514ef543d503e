"""What is done to make tables and to import rows: a file an operation."""
