"""Files of tables, handed out in parts: their endpoint, and what a range means."""
