"""The catalog of tables, their indexes, and the operations that change them."""
