"""The catalog: list, search, registration and settings of tables."""
