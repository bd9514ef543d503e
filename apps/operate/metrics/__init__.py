"""The metrics of a server, as Prometheus reads them.

No label holds a table, a recipient or a person.
"""
