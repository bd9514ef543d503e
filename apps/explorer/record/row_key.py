"""The address of a row by its key, which filters and later commits do not change."""

from dataclasses import dataclass
from datetime import UTC
from urllib.parse import urlencode

import pyarrow as pa
from django.http import HttpRequest
from django.urls import reverse

from apps.explorer.columns.key import table_key
from apps.explorer.rows.filters import row_filter
from apps.explorer.rows.plan import RowPlan
from apps.explorer.version.table_version import TableVersion
from apps.pages.page_json import OnPage
from apps.pages.request.parameters import QueryError
from deltaweb.delta.values.cell_text import cell_text
from deltaweb.delta.values.python_values import python_values

MAX_LENGTH = 500  # characters of a value in an address


@dataclass(frozen=True, slots=True, kw_only=True)
class RowKey:
    """A key of the row.

    Attributes:
        columns: The columns that seem to name each row.
        reason: Why they seem to.
        url: The page of the rows with these values, at its first row.
        text: The key in words: `order_id = 97`.
    """

    columns: tuple[str, ...]
    reason: str
    url: str
    text: OnPage[str]


def row_key(
    request: HttpRequest, at: TableVersion, plan: RowPlan, one: pa.Table
) -> RowKey | None:
    """Return the key of a row; None if the table seems to have none.

    Args:
        one: The row. A key with a column that it lacks, a NULL, or a value that no
            condition can have is not offered.
    """
    names = plan.schema.names
    found = table_key(at.table, names, after=-1, up_to=at.version or 0)
    if found is None or not set(found.columns) <= {*one.column_names}:
        return None
    filters = []
    for name in found.columns:
        [value] = python_values(one[name])
        text = "" if value is None else cell_text(value)
        if value is None or len(text) > MAX_LENGTH:
            return None
        try:
            filters.append(row_filter(plan.schema, f"{name}:eq:{text}", UTC))
        except QueryError:
            return None
    query = [("f", one.raw) for one in filters]
    query += [] if at.is_latest else [("v", str(at.version))]
    address = reverse(
        "explorer:row-detail", args=[at.table.namespace, at.table.name, 1]
    )
    return RowKey(
        columns=found.columns,
        reason=found.reason,
        url=request.build_absolute_uri(f"{address}?{urlencode(query)}"),
        text=" and ".join(one.text for one in filters),
    )
