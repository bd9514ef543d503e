"""Rows of a source are merged into a table: matched ones change, others come or go.

Read the modules in this order:

    clauses      what is done with which rows, as asked for and bound to the schemas
    pairs        which rows of the table and of the source match
    file_merge   what the clauses do to the rows of a file
    outcome      what became of it, as a transaction
    merge        all of it in one process
    builder      the clauses as a caller says them
"""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.writer.merge import builder as builder
    from deltaweb.writer.merge import clauses as clauses
    from deltaweb.writer.merge import merge as merge
else:
    __getattr__ = modules_on_demand(__name__)
