"""Values of a table as grids show them."""
