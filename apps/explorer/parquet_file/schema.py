"""The schema of a file: a page of its nodes, each beside what the table says."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from apps.explorer.columns.tree import kind_text
from apps.explorer.parquet_file.differences import StoredColumns
from apps.pages.lists.paging import Paged, paged
from apps.pages.page_json import OnPage, Spread
from deltaweb.delta.protocol.schema import ArrayType, DataType, MapType, StructType

NODES_A_PAGE: Final = 100
MAX_DEPTH_CLASS: Final = 8  # the style sheet indents this deep
_SHOWN: Final = (
    *("path", "num_children", "column", "repetition", "stored_as", "logical_type"),
    *("converted_type", "effective_type", "invalid_annotation", "field_id"),
    *("sort_order", "delta_type", "delta_reason"),
)
_WORDS: Final = {
    "STRING": "text",
    "ENUM": "text",
    "JSON": "JSON text",
    "BSON": "BSON",
    "DATE": "date",
    "UUID": "UUID",
    "LIST": "list",
    "MAP": "map",
    "MAP_KEY_VALUE": "entries of a map",
    "FLOAT16": "number, 16 bit",
    "INTERVAL": "interval",
    "UNKNOWN": "always null",
}
_PHYSICAL: Final = {
    "BOOLEAN": "true or false",
    "INT32": "whole number, 32 bit",
    "INT64": "whole number, 64 bit",
    "INT96": "instant, ns, legacy",
    "FLOAT": "number, 32 bit",
    "DOUBLE": "number, 64 bit",
    "BYTE_ARRAY": "bytes",
    "FIXED_LEN_BYTE_ARRAY": "bytes",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaNode:
    """A row of the tree: what `NODE_SCHEMA` has of it, and the table.

    Attributes:
        row: All that the file has of it; `shown` is what the JSON form has.
        num_siblings: How many nodes its parent has; -1 where it is on no page.
        table_type: The type in the table; null if the table does not have the column.
        table_name: The name in the table, if it is different.
    """

    row: OnPage[dict[str, Any]]
    shown: Spread[dict[str, Any]]
    num_siblings: OnPage[int]
    table_type: str | None
    table_name: str | None

    @property
    def name(self) -> str:
        return str(self.row["path"][-1])

    @property
    def level(self) -> int:
        """How deep it is, from 1."""
        return int(self.row["depth"]) + 1

    @property
    def depth_class(self) -> str:
        return f"d{min(self.row['depth'], MAX_DEPTH_CLASS)}"

    @property
    def reads_as(self) -> str:
        """What its values are, in words."""
        return reads_as(self.row)

    @property
    def has_no_order(self) -> bool:
        is_ordered = self.row["column_order"] == "INT96_TIMESTAMP_ORDER"
        return self.row["sort_order"] == "undefined" and not is_ordered

    @property
    def problem(self) -> str:
        return self.row["invalid_annotation"] or self.row["delta_reason"] or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePage:
    """Some nodes of a schema, with the way there."""

    nodes: list[SchemaNode] = field(default_factory=list)
    paged: Spread[Paged]


def node_page(
    nodes: pa.Table,
    text: str,
    page: int,
    table: StructType | None,
    *,
    length: int = NODES_A_PAGE,
) -> NodePage:
    """Return a page of the nodes whose names hold a text, with the way to each.

    Args:
        nodes: `NODE_SCHEMA`.
        text: Part of a path or of a type; "" is any.
        table: The table's columns; None if unknown.
    """
    places = _matching(nodes, text)
    place = paged(len(places), page, length=length)
    chosen = places[place.rows].to_pylist()
    parents = nodes["parent"]
    shown = set(chosen)
    for number in chosen:
        above = parents[number].as_py()
        while above >= 0 and above not in shown:
            shown.add(above)
            above = parents[above].as_py()
    order = sorted(shown)
    rows = nodes.take(pa.array(order, pa.int64())).to_pylist() if order else []
    by_number = dict(zip(order, rows, strict=True))
    types = _TableTypes(by_number, table)
    return NodePage(
        nodes=[_node(number, by_number, types) for number in by_number],
        paged=place,
    )


def _matching(nodes: pa.Table, text: str) -> pa.Array:
    if not text:
        return pa.array(range(nodes.num_rows), pa.int64())
    found = None
    paths = pc.binary_join(nodes["path"], ".")
    for column in (
        paths,
        nodes["physical_type"],
        nodes["effective_type"],
        nodes["delta_type"],
    ):
        has = pc.match_substring(column, text, ignore_case=True)
        has = pc.fill_null(has, fill_value=False)
        found = has if found is None else pc.or_(found, has)
    return pc.indices_nonzero(found).cast(pa.int64())


def _node(
    number: int, rows: Mapping[int, dict[str, Any]], types: "_TableTypes"
) -> SchemaNode:
    row = rows[number]
    parent = rows.get(row["parent"])
    return SchemaNode(
        row=row,
        shown={name: row[name] for name in _SHOWN},
        num_siblings=parent["num_children"] if parent else -1,
        table_type=types.word(number),
        table_name=types.names.get(number),
    )


def reads_as(row: Mapping[str, Any]) -> str:
    """Return what the values of a node are, in words."""
    annotation: str | None = row["effective_type"]
    physical: str | None = row["physical_type"]
    if row["invalid_annotation"] is not None:
        annotation = None
    if annotation is None:
        if physical is None:
            return f"struct of {row['num_children']:,}"
        return _PHYSICAL.get(physical, physical)
    kind = annotation.partition("(")[0]
    if kind == "INT":
        width, _, signed = annotation.removeprefix("INT(").rstrip(")").partition(",")
        sign = "" if signed == "true" else ", unsigned"
        return f"whole number, {width} bit{sign}"
    if kind == "DECIMAL":
        return f"decimal{annotation.removeprefix('DECIMAL')}"
    if kind in {"TIMESTAMP", "TIME"}:
        return _time_words(kind, annotation)
    return _WORDS.get(kind, annotation)


def _time_words(kind: str, annotation: str) -> str:
    units = {"MILLIS": "ms", "MICROS": "µs", "NANOS": "ns"}
    unit = next((short for name, short in units.items() if name in annotation), "?")
    is_utc = "isAdjustedToUTC=true" in annotation
    if kind == "TIME":
        return f"time of day, {'UTC, ' if is_utc else ''}{unit}"
    return f"{'instant' if is_utc else 'local time'}, {unit}"


class _TableTypes:
    """What the table says of nodes, found on the way from the top."""

    def __init__(
        self, rows: Mapping[int, dict[str, Any]], table: StructType | None
    ) -> None:
        self.names: dict[int, str] = {}
        self._rows = rows
        self._table = table
        self._found: dict[int, DataType | None] = {}
        self._columns: dict[int, StoredColumns] = {}

    def word(self, number: int) -> str | None:
        """Return the type of a node in a word or two."""
        found = self._type(number)
        return None if found is None else kind_text(found)

    def _type(self, number: int) -> DataType | None:
        if number not in self._found:
            self._found[number] = self._look(number, self._rows[number])
        return self._found[number]

    def _look(self, number: int, row: dict[str, Any]) -> DataType | None:
        owner, name = row["part_of"], row["path"][-1]
        if owner is None:  # what only repeats is nothing of its own in the table
            return None
        over = self._table if owner < 0 else self._type(owner)
        match over:
            case StructType():
                if owner not in self._columns:
                    self._columns[owner] = StoredColumns(over)
                found = self._columns[owner].find(name, row["field_id"])
                if found is not None and found.name.lower() != name.lower():
                    self.names[number] = found.name
                return None if found is None else found.data_type
            case ArrayType():
                return over.element_type
            case MapType():
                return over.key_type if row["position"] == 1 else over.value_type
        return None
