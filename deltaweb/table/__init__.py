"""The class `DeltaTable`, which is the public Python API."""

from deltaweb.table.delta_table import DeltaTable

__all__ = ["DeltaTable"]
