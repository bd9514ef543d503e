"""The address of a row by its key, which filters and later commits do not change."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from urllib.parse import urlencode

import pyarrow as pa
from django.http import HttpRequest
from django.urls import reverse

from apps.explorer.columns.key import table_key
from apps.explorer.rows.filters import RowFilter, row_filter
from apps.explorer.rows.plan import RowPlan
from apps.explorer.version.table_version import TableVersion
from apps.pages.errors import PageError
from apps.pages.page_json import OnPage
from apps.pages.request.parameters import QueryError
from deltaweb.delta.values.cell_text import cell_text
from deltaweb.delta.values.python_values import python_values

MAX_LENGTH = 500  # characters of a value in an address
_ODD = frozenset("/\\\0\r\n\t")


@dataclass(frozen=True, slots=True, kw_only=True)
class RowKey:
    """A key of the row.

    Attributes:
        columns: The columns that seem to name each row.
        reason: Why they seem to.
        url: The page of the row: `…/rows/order_id/97`.
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
    filters: list[RowFilter] = []
    parts: list[str] = []
    for name in found.columns:
        [value] = python_values(one[name])
        text = "" if value is None else cell_text(value)
        if value is None or len(text) > MAX_LENGTH:
            return None
        parts += [name, text]
        try:
            filters.append(row_filter(plan.schema, f"{name}:eq:{text}", UTC))
        except QueryError:
            return None
    place = [at.table.namespace, at.table.name]
    query = [] if at.is_latest else [("v", str(at.version))]
    if _fit_path(parts):
        address = reverse("explorer:row-by-key", args=[*place, "/".join(parts)])
    else:
        address = reverse("explorer:row-detail", args=[*place, 1])
        query = [*(("f", one.raw) for one in filters), *query]
    if query:
        address = f"{address}?{urlencode(query)}"
    return RowKey(
        columns=found.columns,
        reason=found.reason,
        url=request.build_absolute_uri(address),
        text=" and ".join(one.text for one in filters),
    )


def key_filters(key: str) -> list[str]:
    """Return the filters of the page of a row that an address names by its key.

    Args:
        key: Names of columns, each followed by its value.

    Raises:
        PageError: If a name has no value.
    """
    parts = key.split("/")
    if len(parts) % 2 or not all(parts):
        raise PageError(
            status=404,
            code="row-not-found",
            message="The address of a row by its key has a value for each column.",
            hint="It is, for example, …/rows/order_id/97.",
        )
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return [f"{name}:eq:{value}" for name, value in pairs]


def _fit_path(parts: Sequence[str]) -> bool:
    """Whether names and values can be parts of a path; others are in the query.

    Browsers and servers change some paths: they drop `.`, for example.
    """
    odd = {"", ".", ".."}
    is_plain = all(part not in odd and not _ODD & {*part} for part in parts)
    return is_plain and not parts[-1].endswith(".json")
