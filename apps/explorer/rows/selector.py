"""The rows of a version: what to ask a job for, and what its result shows."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from typing import Annotated

import pyarrow as pa
import pyarrow.compute as pc

from apps.explorer.grid import (
    MAX_DETAIL_LENGTH,
    UNREAD,
    Cell,
    cell,
    chunk_length,
    csv_rows,
    python_values,
)
from apps.explorer.rows.filters import NUMBERS, is_plain, type_name
from apps.explorer.rows.form import PAGE_LENGTH
from apps.explorer.rows.plan import RowPlan
from apps.pages.page_json import As, Named, OnPage
from apps.tables.work.preview import RowsRead
from deltaweb.delta.protocol.schema import (
    DataType,
    DecimalType,
    PrimitiveType,
    short_type_text,
)
from deltaweb.delta.values.python_values import ToJSON, to_json_of

MAX_JSON_LENGTH = 4_000_000  # characters of the rows of one JSON answer
MIN_CUT_LENGTH = 500
MAX_DETAILS_LENGTH = 120_000  # characters in the panels of all cells of a page
MAX_TYPE_LENGTH = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class GridColumn:
    """A column of the grid: its type below its name.

    `unread` says why its values are not shown; nothing where they are.
    """

    name: str
    type_text: Annotated[str, Named("type")]
    is_number: OnPage[bool]
    is_long: OnPage[bool]
    sort: OnPage[str]  # "ascending", "descending" or nothing
    next_sort: OnPage[str]  # what a click on the header asks for
    unread: Annotated[str, Named("not_read"), As(lambda why: why or None)]


@dataclass(frozen=True, slots=True, kw_only=True)
class GridRow:
    """A row of the grid; `number` is its place among the rows that match, from 1."""

    number: int
    cells: list[Cell]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPage:
    """A page of rows.

    `files_scanned` of `files_total` were opened; `more` says that rows follow those
    that were read.
    """

    columns: list[GridColumn] = field(default_factory=list)
    rows: OnPage[list[GridRow]]
    page: OnPage[int]
    first_row: OnPage[int]
    num_read: Annotated[int, Named("count")]
    more: bool
    files_scanned: int | None
    files_total: int | None

    @property
    def next_page(self) -> int | None:
        return self.page + 1 if self.has_next else None

    @property
    def previous_page(self) -> int | None:
        return self.page - 1 if self.page > 1 else None

    @property
    def last_row(self) -> int:
        return self.first_row + len(self.rows) - 1

    @property
    def has_next(self) -> bool:
        return self.more or self.last_row < self.num_read


def row_page(plan: RowPlan, result: pa.Table, facts: RowsRead, zone: tzinfo) -> RowPage:
    """Return the page of a plan from the block of rows that its job has read."""
    places = _places(plan, result)
    shown = result.take(places)
    columns = [
        [UNREAD] * shown.num_rows
        if name in plan.unread
        else [
            cell(value, zone)
            for value in python_values(beginnings(shown[name], MAX_DETAIL_LENGTH + 1))
        ]
        for name in plan.shown
        if name in plan.unread or name in shown.column_names
    ]
    cells = map(list, zip(*columns, strict=True))
    return RowPage(
        columns=[grid_column(plan, name, zone) for name in plan.shown],
        rows=[
            GridRow(number=plan.offset + place + 1, cells=row)
            for place, row in zip(
                places.to_pylist(), _within_budget(cells), strict=False
            )
        ],
        page=plan.page,
        first_row=plan.rows_before + 1,
        num_read=plan.offset + result.num_rows,
        more=bool(facts.more),
        files_scanned=facts.files_scanned,
        files_total=facts.files_total,
    )


def _within_budget(rows: Iterable[list[Cell]]) -> Iterator[list[Cell]]:
    """Drop what the panels of cells hold once a page has enough of it."""
    room = MAX_DETAILS_LENGTH
    for row in rows:
        room -= sum(len(shown.detail) for shown in row)
        yield [replace(shown, detail="") for shown in row] if room < 0 else row


def row_objects(
    plan: RowPlan, result: pa.Table
) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """Return the page's rows as the JSON form shows them, and which values are cut.

    Of each of these the index of its row, its column, and the number of the row, which
    has the whole value on a page of its own.
    """
    places = _places(plan, result)
    shown = result.take(places)
    limit = cut_length(shown.num_rows * len(plan.columns))
    columns = {name: bounded_values(shown[name], limit) for name in plan.columns}
    numbers = [plan.offset + place + 1 for place in places.to_pylist()]
    return (
        [
            {name: values[index][0] for name, values in columns.items()}
            for index in range(shown.num_rows)
        ],
        [
            {"index": index, "column": name, "row": numbers[index]}
            for name, values in columns.items()
            for index, (_, is_cut) in enumerate(values)
            if is_cut
        ],
    )


def cut_length(num_cells: int) -> int:
    """Return how long a value may be in an answer of so many."""
    return max(MAX_JSON_LENGTH // max(num_cells, 1), MIN_CUT_LENGTH)


def bounded_values(column: pa.ChunkedArray, limit: int) -> list[tuple[object, bool]]:
    """Return values as JSON holds them, and whether each is only its beginning.

    A nested value that is too long becomes the beginning of its JSON text.
    """
    to_json = to_json_of(column.type)
    values = python_values(beginnings(column, limit + 1))
    return [_bounded(value, limit, to_json) for value in values]


def _bounded(value: object, limit: int, to_json: ToJSON) -> tuple[object, bool]:
    if isinstance(value, bytes):
        value = value[: limit // 2 + 1]
    found = to_json(value)
    if not isinstance(found, str | list | dict):
        return found, False
    text = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
    return (found, False) if len(text) <= limit else (text[:limit], True)


def beginnings(column: pa.ChunkedArray, length: int) -> pa.ChunkedArray:
    """Return texts cut after `length` characters, so that Python holds no long one.

    Other values stay as they are.
    """
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        if (pc.max(pc.binary_length(column)).as_py() or 0) <= length:
            return column
        return pc.utf8_slice_codeunits(column, 0, length)
    return column


def row_lines(plan: RowPlan, result: pa.Table) -> Iterator[Sequence[object]]:
    """Yield the header and every row of an export, as the CSV form shows them."""
    yield list(plan.columns)
    ordered = _sorted(plan, result).select(list(plan.columns))
    length = chunk_length(ordered, PAGE_LENGTH)
    yield from csv_rows(ordered.to_batches(max_chunksize=length))


def grid_column(plan: RowPlan, name: str, zone: tzinfo) -> GridColumn:
    """Return a column's header: its type, and what sorting it again would do."""
    field = plan.column(name)
    data_type: DataType = field.data_type if field else PrimitiveType("string")
    text = short_type_text(data_type, MAX_TYPE_LENGTH)
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


def _places(plan: RowPlan, result: pa.Table) -> pa.Array:
    """Return where the rows of the page are in the block, in their order."""
    start = plan.rows_before - plan.offset
    order = _order(plan, result)
    if order is None:
        order = pa.array(range(result.num_rows), pa.int64())
    return order.slice(start, plan.page_length)


def _sorted(plan: RowPlan, result: pa.Table) -> pa.Table:
    order = _order(plan, result)
    return result if order is None else result.take(order)


def _order(plan: RowPlan, result: pa.Table) -> pa.Array | None:
    """Return where rows are in the order asked for; None where they stay."""
    name = plan.sort.removeprefix("-")
    if not name or name not in result.column_names:
        return None
    order = "descending" if plan.sort.startswith("-") else "ascending"
    try:
        return pc.sort_indices(result, [(name, order)])
    except (pa.ArrowNotImplementedError, pa.ArrowTypeError, pa.ArrowInvalid):
        return None  # A nested column has no order.


def _type_name(plan: RowPlan, name: str) -> str:
    field = plan.column(name)
    return type_name(field.data_type) if field else ""
