"""The shape of a table of statistics: which columns, nested how, of which types."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from deltaweb.delta.protocol.column_path import select_leaves
from deltaweb.delta.protocol.schema import (
    SHOWN_ONLY,
    DataType,
    DecimalType,
    LeafField,
    PrimitiveType,
    StructField,
    StructType,
    arrow_type,
    stored_schema,
)

_UNORDERED = SHOWN_ONLY | {"binary", "void", "variant"}


@dataclass(frozen=True)
class StatisticsShape:
    """The columns of a table of statistics.

    Attributes:
        bounds: The columns that have an order, nested as in the table's schema.
    """

    bounds: StructType
    counts: StructType

    @property
    def stored(self) -> "StatisticsShape":
        """The shape by the names that the log has for the columns."""
        return StatisticsShape(stored_schema(self.bounds), stored_schema(self.counts))

    @property
    def arrow(self) -> pa.Schema:
        return pa.schema(
            [
                ("num_records", pa.int64()),
                ("min", arrow_type(self.bounds)),
                ("max", arrow_type(self.bounds)),
                ("null_count", arrow_type(self.counts)),
            ]
        )


def statistics_shape(
    schema: StructType, columns: Iterable[str | Sequence[str]] | None = None
) -> StatisticsShape:
    """The shape of the statistics of `columns`; of every leaf for None."""
    leaves = select_leaves(schema, columns)
    counts = [LeafField(leaf.path, PrimitiveType("long")) for leaf in leaves]
    return StatisticsShape(
        bounds=_nested([leaf for leaf in leaves if has_order(leaf)], schema),
        counts=_nested(counts, schema),
    )


def has_order(leaf: LeafField) -> bool:
    """Tell whether a smallest and a largest value can be kept for the column."""
    kind = leaf.data_type
    if isinstance(kind, PrimitiveType):
        return kind.name not in _UNORDERED
    return isinstance(kind, DecimalType)


def _nested(leaves: Sequence[LeafField], within: DataType) -> StructType:
    """Return the struct of leaves; their fields are as those of the struct around."""
    below: dict[str, list[LeafField]] = {}
    for path, data_type in leaves:
        below.setdefault(path[0], []).append(LeafField(path[1:], data_type))
    return StructType(
        tuple(_field(name, parts, within) for name, parts in below.items())
    )


def _field(name: str, parts: Sequence[LeafField], within: DataType) -> StructField:
    known = within.find(name) if isinstance(within, StructType) else None
    data_type = parts[0].data_type
    if parts[0].path:
        data_type = _nested(parts, known.data_type if known else StructType(()))
    return StructField(
        name, data_type, physical_name=known.physical_name if known else ""
    )
