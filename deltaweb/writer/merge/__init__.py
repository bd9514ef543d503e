"""The merge of source rows into a table, in process."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.writer.merge import builder as builder
    from deltaweb.writer.merge import clauses as clauses
    from deltaweb.writer.merge import merge as merge
else:
    __getattr__ = modules_on_demand(__name__)
