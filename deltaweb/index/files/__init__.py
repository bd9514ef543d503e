"""The newest files of a table, all columns typed, and what counts them."""
