"""The shares received from other providers.

A provider is stored as a storage connection (its sealed profile) and a lake (its list
of tables), so its tables are indexed like all others.
"""
