"""What the search finds beside tables and columns: one module for each kind."""
