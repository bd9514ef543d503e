"""One row as a record: a field a line, with more of its value than the grid shows."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Final

import pyarrow as pa

from apps.explorer.grid import UNREAD, cell, json_value, python_values
from apps.explorer.rows.form import BLOCK_LENGTH, PAGE_LENGTH
from apps.explorer.rows.plan import RowPlan
from apps.explorer.rows.selector import (
    MAX_JSON_LENGTH,
    beginnings,
    bounded_values,
    grid_column,
)
from apps.tables.work.preview import RowsRead
from deltaweb.delta.protocol.schema import PrimitiveType
from deltaweb.delta.scan.variant_parts import part_name
from deltaweb.delta.values.python_values import to_json_of
from deltaweb.delta.values.variant_get import Steps, format_path
from deltaweb.delta.values.variant_tree import VariantNode, plain_variant, variant_tree
from deltaweb.words import cut

COLUMN_TYPES: Final = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), "bigint"),
    **dict.fromkeys(("float", "double", "decimal"), "double"),
    **dict.fromkeys(("string", "uuid", "time"), "string"),
    **{name: name for name in ("boolean", "date", "timestamp", "timestamp_ntz")},
    "binary": "binary",
    "null": "variant",
}
"""What values of a type are read as in other rows, where they may be larger."""


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A value in a variant.

    Attributes:
        name, type_name, text: As of a `VariantNode`.
        nodes: The parts of an object or an array.
        column: The name of the column that has this value of every row; "" for a
            value with parts, and for one that no path leads to.
    """

    name: str
    type_name: str
    text: str
    nodes: "tuple[TreeNode, ...]"
    column: str


def tree_of(column: str, node: VariantNode, steps: Steps = ()) -> TreeNode:
    """Return a variant as a tree."""
    is_array = node.type_name == "array"
    parts = tuple(
        tree_of(column, part, (*steps, int(part.name) if is_array else part.name))
        for part in node.nodes
    )
    kind, path = COLUMN_TYPES.get(node.type_name), format_path(steps)
    return TreeNode(
        name=node.name,
        type_name=node.type_name,
        text=node.text,
        nodes=parts,
        column=part_name(column, path, kind) if kind and path else "",
    )


COLUMNS_A_PAGE: Final = 150
MAX_VALUE_LENGTH: Final = 5_000  # characters of a value
MAX_VALUES_LENGTH: Final = 150_000  # of all values of a page
MIN_VALUE_LENGTH: Final = 300
MAX_COPIED_LENGTH: Final = 40_000  # of the record as JSON, inside the page
MAX_TREE_LENGTH: Final = 100_000  # of a variant with its types
PIECE_LENGTH: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordField:
    """A column of the record.

    Attributes:
        kind: As of a cell; of an "unread" one `text` says why.
        text: The value; a nested one is JSON, bytes are hexadecimal.
        is_cut: Whether `text` is only its beginning.
        tree: A variant with the types of its values; None for any other value, and
            for one of very many values.
    """

    name: str
    type_text: str
    kind: str
    text: str
    is_cut: bool
    tree: TreeNode | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A row of a version.

    Attributes:
        number: Its place among the rows that match, from 1.
        as_json: The record as JSON text, to be copied; "" where it is long.
    """

    number: int
    fields: list[RecordField]
    has_next: bool
    as_json: str


def has_variants(plan: RowPlan) -> bool:
    """Tell whether a column of the page is a variant, which tells its types."""
    return any(_is_variant(plan, name) for name in plan.columns)


def _is_variant(plan: RowPlan, name: str) -> bool:
    column = plan.schema.find(name)
    return column is not None and column.data_type == PrimitiveType("variant")


def _plain(plan: RowPlan, one: pa.Table) -> pa.Table:
    """Return a row whose variants are JSON text, as everywhere else."""
    for place, name in enumerate(one.column_names):
        if _is_variant(plan, name):
            text = one[name][0].as_py()
            plain = [None if text is None else plain_variant(text)]
            one = one.set_column(place, name, pa.array(plain, pa.string()))
    return one


def record_plan(plan: RowPlan, row: int, column_page: int) -> RowPlan:
    """Return the plan that reads a row with every column, a page of columns at once.

    Args:
        row: The number of the row, from 1.
        column_page: Which page of columns, from 1; the last where there are fewer.
    """
    whole = replace(
        plan,
        chosen=plan.all_columns,
        sort="",
        page=(row - 1) // PAGE_LENGTH + 1,
        page_length=PAGE_LENGTH,
        page_columns=COLUMNS_A_PAGE,
    )
    return replace(whole, column_page=min(column_page, whole.num_column_pages))


def record(
    plan: RowPlan, result: pa.Table, facts: RowsRead, row: int, zone: tzinfo
) -> Record | None:
    """Return a row of the block that its job has read; None where it has ended.

    Args:
        plan: By `record_plan`.
    """
    place = row - 1 - plan.offset
    if place >= result.num_rows:
        return None
    one = result.slice(place, 1)
    limit = min(
        MAX_VALUE_LENGTH,
        max(MAX_VALUES_LENGTH // max(len(plan.columns), 1), MIN_VALUE_LENGTH),
    )
    return Record(
        number=row,
        fields=list(_fields(plan, one, limit, zone)),
        has_next=place + 1 < result.num_rows
        or (bool(facts.more) and result.num_rows == BLOCK_LENGTH),
        as_json=_copied(plan, one),
    )


def record_values(plan: RowPlan, one: pa.Table) -> tuple[dict[str, object], list[str]]:
    """Return a row as the JSON form shows it, and the columns that are cut.

    Args:
        plan: By `record_plan`.
    """
    one = _plain(plan, one)
    limit = MAX_JSON_LENGTH // max(len(plan.columns), 1)
    found: dict[str, object] = {}
    cut: list[str] = []
    for name in plan.columns:
        [(found[name], is_cut)] = bounded_values(one[name], limit)
        cut += [name] if is_cut else []
    return found, cut


def value_pieces(plan: RowPlan, one: pa.Table, name: str) -> Iterator[str]:
    """Yield the whole value of a column as text, piece by piece."""
    column = _plain(plan, one)[name]
    [value] = python_values(column)
    if isinstance(value, bytes):
        text = value.hex()
    else:
        found = to_json_of(column.type)(value)
        text = (
            found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
        )
    for start in range(0, len(text), PIECE_LENGTH):
        yield text[start : start + PIECE_LENGTH]


def _fields(
    plan: RowPlan, row: pa.Table, limit: int, zone: tzinfo
) -> Iterator[RecordField]:
    one = _plain(plan, row)
    for name in plan.shown:
        column = grid_column(plan, name, zone)
        if column.unread:
            yield RecordField(
                name=name,
                type_text=column.type_text,
                kind=UNREAD.kind,
                text=column.unread,
                is_cut=False,
            )
            continue
        value = python_values(beginnings(one[name], limit + 1))[0]
        shown = cell(value, zone)
        text = shown.text
        if isinstance(value, str):
            text = value
        elif isinstance(value, bytes):
            text = value[: limit // 2 + 1].hex()
        elif shown.kind == "nested":
            text = json.dumps(json_value(value), ensure_ascii=False, indent=2)
        yield RecordField(
            name=name,
            type_text=column.type_text,
            kind=shown.kind,
            text=cut(text, limit),
            is_cut=len(text) > limit,
            tree=_tree(plan, row, name),
        )


def _tree(plan: RowPlan, row: pa.Table, name: str) -> TreeNode | None:
    if not _is_variant(plan, name):
        return None
    typed_text = row[name][0].as_py()
    if typed_text is None or len(typed_text) > MAX_TREE_LENGTH:
        return None
    node = variant_tree(typed_text)
    return None if node is None else tree_of(name, node)


def _copied(plan: RowPlan, one: pa.Table) -> str:
    values, cut = record_values(plan, one)
    text = "" if cut else json.dumps(values, ensure_ascii=False, indent=2)
    return text if len(text) <= MAX_COPIED_LENGTH else ""
