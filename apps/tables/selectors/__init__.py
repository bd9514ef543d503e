"""What the pages of a table show, read from the database and the results of jobs.

table_head   a table by name, the version a page asks for, the head of its pages
catalogue    the list of tables: filters, facets, sort, search in columns
results      rows and files that jobs have left
"""

from apps.tables.selectors.table_head import (
    TableHead,
    get_table,
    requested_version,
    table_head,
)

__all__ = ["TableHead", "get_table", "requested_version", "table_head"]
