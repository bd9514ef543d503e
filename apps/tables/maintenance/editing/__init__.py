"""Pages that change a table: its rows, and its definition."""
