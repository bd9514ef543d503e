"""The operations on a table's columns, constraints, properties and protocol."""
