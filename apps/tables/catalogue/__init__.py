"""The catalogue: list, search, register and settings; services, forms and views."""
