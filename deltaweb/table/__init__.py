"""DeltaTable: the public Python API; binds the protocol to a store.

Read the modules in this order:

    opened       a table at a location: its snapshots, its history, what differs
    rows         the verbs that write rows
    definition   the verbs that change what the table is
    maintenance  those of its versions, its files and its log
    delta_table  all of it, the rows of its newest version, and what makes a table
"""

from deltaweb.table.delta_table import DeltaTable

__all__ = ["DeltaTable"]
