"""What administrators and recipients change."""
