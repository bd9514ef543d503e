"""What is known of table features: in plain words, in a table, and of clients."""
