"""The rows of a version: what to ask a job for, and what its result shows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from apps.explorer.cells import UNREAD, Cell, cell, json_value, python_values
from apps.explorer.forms import QueryError, RowQuery
from apps.explorer.selectors.row_filters import (
    NUMBERS,
    RowFilter,
    is_plain,
    row_filter,
    type_name,
)
from deltaweb.delta.schema import (
    DataType,
    DecimalType,
    PrimitiveType,
    StructType,
    read_columns,
    type_text,
    unread_type,
)

PAGE_LENGTH = 50
BLOCK_LENGTH = 500  # rows of one job: ten pages of one read


@dataclass(frozen=True, slots=True, kw_only=True)
class GridColumn:
    """A column of the grid: its type below its name.

    `unread` says why its values are not shown; nothing where they are.
    """

    name: str
    type_text: str
    is_number: bool
    is_long: bool
    sort: str  # "ascending", "descending" or nothing
    next_sort: str  # what a click on the header asks for
    unread: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPlan:
    """What the address asks for, checked against the schema.

    Attributes:
        columns: Names of the chosen columns that are read, in the order of the schema.
        shown: The chosen columns of the grid, those that are not read as well.
        all_columns: Every name, for the chooser.
        unread: Of the chosen columns that are not read, the type that is not.
        filters: The conditions; all must hold.
        sort: A column, with - in front to reverse, or nothing.
        page: The page asked for, from 1.
    """

    schema: StructType
    columns: tuple[str, ...]
    shown: tuple[str, ...]
    all_columns: tuple[str, ...]
    unread: Mapping[str, str]
    filters: tuple[RowFilter, ...]
    sort: str
    page: int

    @property
    def predicate(self) -> str:
        """The conditions as SQL, or nothing."""
        return " AND ".join(f"({wanted.sql})" for wanted in self.filters)

    @property
    def offset(self) -> int:
        """The first row of the block that holds the page."""
        return (self.page - 1) * PAGE_LENGTH // BLOCK_LENGTH * BLOCK_LENGTH

    @property
    def filterable(self) -> list[str]:
        """The columns that a condition may name."""
        return [field.name for field in self.schema.fields if is_plain(field.data_type)]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPage:
    """A page of rows.

    `files_scanned` of `files_total` were opened; `more` says that rows follow those
    that were read.
    """

    columns: list[GridColumn]
    rows: list[list[Cell]]
    page: int
    first_row: int
    num_read: int
    more: bool
    files_scanned: int | None
    files_total: int | None

    @property
    def next_page(self) -> int | None:
        """The number of the next page, if there is one."""
        return self.page + 1 if self.has_next else None

    @property
    def previous_page(self) -> int | None:
        """The number of the page before, if there is one."""
        return self.page - 1 if self.page > 1 else None

    @property
    def last_row(self) -> int:
        """The number of the last row shown, from 1."""
        return self.first_row + len(self.rows) - 1

    @property
    def has_next(self) -> bool:
        """Whether rows follow this page."""
        return self.more or self.last_row < self.num_read


def row_plan(schema: StructType, query: RowQuery, zone: tzinfo) -> RowPlan:
    """Check a query against the schema of the version.

    Raises:
        PageError: 400 that names the part of the address that does not fit.
    """
    unknown = [name for name in query.columns if name not in schema.names]
    if unknown:
        expected = f"a column of this version, not {unknown[0][:80]!r}"
        raise QueryError(part="col", expected=expected)
    sort = query.sort
    read = read_columns(schema).names
    if query.columns and not set(query.columns) & set(read):
        expected = f"a column that is read, which {query.columns[0][:80]!r} is not"
        raise QueryError(part="col", expected=expected)
    if sort and sort.removeprefix("-") not in read:
        raise QueryError(part="sort", expected="a column of this version")
    read_names = set(read)
    chosen = set(query.columns or schema.names)
    return RowPlan(
        schema=schema,
        columns=tuple(name for name in read if name in chosen),
        shown=tuple(name for name in schema.names if name in chosen),
        all_columns=schema.names,
        unread={
            field.name: unread_type(field.data_type)
            for field in schema.fields
            if field.name in chosen and field.name not in read_names
        },
        filters=tuple(row_filter(schema, text, zone) for text in query.filters),
        sort=sort,
        page=query.page,
    )


def row_page(
    plan: RowPlan, result: pa.Table, facts: Mapping[str, Any], zone: tzinfo
) -> RowPage:
    """Return the page of a plan from the block of rows that its job has read."""
    ordered = _sorted(plan, result)
    start = (plan.page - 1) * PAGE_LENGTH - plan.offset
    shown = ordered.slice(start, PAGE_LENGTH)
    cells = [
        [UNREAD] * shown.num_rows
        if name in plan.unread
        else [cell(value, zone) for value in python_values(shown[name])]
        for name in plan.shown
        if name in plan.unread or name in shown.column_names
    ]
    return RowPage(
        columns=[grid_column(plan, name, zone) for name in plan.shown],
        rows=[list(row) for row in zip(*cells, strict=True)],
        page=plan.page,
        first_row=(plan.page - 1) * PAGE_LENGTH + 1,
        num_read=plan.offset + result.num_rows,
        more=bool(facts.get("more")),
        files_scanned=facts.get("files_scanned"),
        files_total=facts.get("files_total"),
    )


def row_objects(plan: RowPlan, result: pa.Table) -> list[dict[str, object]]:
    """Return the page's rows as the JSON form shows them."""
    start = (plan.page - 1) * PAGE_LENGTH - plan.offset
    shown = _sorted(plan, result).slice(start, PAGE_LENGTH)
    longs = {name for name in plan.columns if _type_name(plan, name) == "long"}
    columns = {
        name: [
            json_value(value, is_long=name in longs)
            for value in python_values(shown[name])
        ]
        for name in plan.columns
    }
    return [
        {name: values[index] for name, values in columns.items()}
        for index in range(shown.num_rows)
    ]


def row_lines(plan: RowPlan, result: pa.Table) -> Iterator[Sequence[object]]:
    """Yield the header and every row of an export, as the CSV form shows them."""
    yield list(plan.columns)
    ordered = _sorted(plan, result)
    for batch in ordered.select(list(plan.columns)).to_batches(
        max_chunksize=PAGE_LENGTH
    ):
        columns = [python_values(column) for column in batch.columns]
        for row in zip(*columns, strict=True):
            yield [_csv_value(value) for value in row]


def grid_column(plan: RowPlan, name: str, zone: tzinfo) -> GridColumn:
    """Return a column's header: its type, and what sorting it again would do."""
    field = plan.schema.find(name)
    data_type: DataType = field.data_type if field else PrimitiveType("string")
    text = type_text(data_type)
    if isinstance(data_type, PrimitiveType) and data_type.name == "timestamp":
        text = f"timestamp, {zone}"
    elif not is_plain(data_type):
        text = text.partition("<")[0]
    sorted_by = plan.sort.removeprefix("-") == name
    descending = plan.sort.startswith("-")
    return GridColumn(
        name=name,
        type_text=text,
        is_number=isinstance(data_type, DecimalType)
        or _type_name(plan, name) in NUMBERS,
        is_long=_type_name(plan, name) == "long",
        sort=("descending" if descending else "ascending") if sorted_by else "",
        next_sort=f"-{name}" if sorted_by and not descending else name,
        unread=f"Values of type {plan.unread[name]} are not read."
        if name in plan.unread
        else "",
    )


def _sorted(plan: RowPlan, result: pa.Table) -> pa.Table:
    name = plan.sort.removeprefix("-")
    if not name or name not in result.column_names:
        return result
    order = "descending" if plan.sort.startswith("-") else "ascending"
    try:
        return result.take(pc.sort_indices(result, [(name, order)]))
    except (pa.ArrowNotImplementedError, pa.ArrowTypeError, pa.ArrowInvalid):
        return result  # A nested column has no order.


def _type_name(plan: RowPlan, name: str) -> str:
    field = plan.schema.find(name)
    return type_name(field.data_type) if field else ""


def _csv_value(value: object) -> object:
    if value is None or isinstance(value, str | int | float | Decimal):
        return value
    return json_value(value)
