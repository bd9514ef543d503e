"""What the pages of the catalogue show: the database, and the results of jobs.

table_head   a table by name, the version a page asks for, the head of its pages
catalogue    the list of tables: filters, facets, order
search       tables, columns and what other apps have, by a word
results      rows and files that jobs have left
"""

from apps.tables.selectors.catalogue import (
    CataloguePage,
    CatalogueQuery,
    CatalogueRow,
    catalogue_csv,
    catalogue_page,
)
from apps.tables.selectors.results import (
    JobRows,
    preview_result,
    version_files_result,
)
from apps.tables.selectors.search import (
    SearchPage,
    search_csv,
    search_keys,
    search_page,
)
from apps.tables.selectors.table_head import (
    TableHead,
    get_table,
    requested_version,
    table_head,
)

__all__ = [
    "CataloguePage",
    "CatalogueQuery",
    "CatalogueRow",
    "JobRows",
    "SearchPage",
    "TableHead",
    "catalogue_csv",
    "catalogue_page",
    "get_table",
    "preview_result",
    "requested_version",
    "search_csv",
    "search_keys",
    "search_page",
    "table_head",
    "version_files_result",
]
