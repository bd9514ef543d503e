"""What a reader of rows asks of a footer: rows, nulls, bounds and dictionaries.

A column chunk is read when it is asked for: who looks at one column of a hundred pays
for one.

Source: parquet.thrift, "RowGroup", "ColumnMetaData", "Statistics",
"PageEncodingStats".
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from deltaweb.parquet.compact.layouts import LateListOf, Layout, ListOf
from deltaweb.parquet.compact.reader import CompactReader
from deltaweb.parquet.errors import FooterCorruptError
from deltaweb.parquet.metadata import text_of

_CHUNK: Final = Layout(
    metadata=(
        3,
        Layout(
            path=(3, ListOf("binary")),
            num_values=(5, "int"),
            size_bytes=(7, "int"),
            # Fields 1 and 2 are bounds too, in an order that writers did not agree on.
            statistics=(
                12,
                Layout(
                    null_count=(3, "int"),
                    max_value=(5, "binary"),
                    min_value=(6, "binary"),
                ),
            ),
            pages=(13, ListOf(Layout(kind=(1, "int"), encoding=(2, "int")))),
        ),
    )
)
_DATA_PAGES: Final = frozenset({0, 3})
_DICTIONARY_ENCODINGS: Final = frozenset({2, 8})
_FILE: Final = Layout(
    # Elements of the schema are gone past as column chunks are.
    schema=(2, LateListOf(Layout())),
    row_groups=(
        4,
        ListOf(
            Layout(
                columns=(1, LateListOf(_CHUNK)),
                num_rows=(3, "int"),
                size_bytes=(6, "int"),
            )
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class ChunkCounts:
    """What a footer says of one leaf column in one row group.

    Attributes:
        num_values: Its values, nulls among them; -1 where the footer does not say.
        low: The least value, or one below it, as Parquet's plain encoding has it.
        high: The greatest value, or one above it.
        is_coded: Whether the footer says that all values are of a dictionary.
    """

    path: str
    num_values: int
    null_count: int | None
    low: bytes | None
    high: bytes | None
    is_coded: bool


@dataclass(frozen=True, slots=True)
class RowGroupCounts:
    """What a footer says of one row group.

    Attributes:
        raw_chunks: Its column chunks as stored, in the order of the leaf columns.
        stated_bytes: Its compressed bytes; None if only its chunks say theirs.
    """

    num_rows: int
    raw_chunks: Sequence[Mapping[str, Any]] = ()
    stated_bytes: int | None = None

    @property
    def size_bytes(self) -> int:
        """The compressed bytes of its column chunks."""
        if self.stated_bytes is not None:
            return self.stated_bytes
        found = (raw.get("metadata", {}) for raw in self.raw_chunks)
        return sum(one.get("size_bytes", 0) for one in found)

    def chunk(self, leaf: int) -> ChunkCounts:
        """Return what is said of the leaf column at a position."""
        return _chunk(self.raw_chunks[leaf])

    def chunks(self) -> Iterator[ChunkCounts]:
        """Yield what is said of each leaf column."""
        return map(_chunk, self.raw_chunks)

    def null_leaves(self) -> set[str]:
        """Return dotted paths of the leaf columns that hold nothing but nulls."""
        return {
            chunk.path
            for chunk in self.chunks()
            if chunk.null_count is not None and chunk.null_count == chunk.num_values
        }


def parse_row_group_counts(footer: bytes) -> list[RowGroupCounts]:
    """Parse the counts of every row group from a footer's bytes."""
    raw = CompactReader(footer).read_struct(_FILE)
    return [
        RowGroupCounts(
            group.get("num_rows", 0), group.get("columns", ()), group.get("size_bytes")
        )
        for group in raw.get("row_groups", ())
    ]


def _chunk(raw: Mapping[str, Any]) -> ChunkCounts:
    values = raw.get("metadata")
    if values is None:
        raise FooterCorruptError(reason="a column chunk has no metadata")
    statistics = values.get("statistics", {})
    return ChunkCounts(
        path=".".join(map(text_of, values.get("path", ()))),
        num_values=values.get("num_values", -1),
        null_count=statistics.get("null_count"),
        low=statistics.get("min_value"),
        high=statistics.get("max_value"),
        is_coded=_is_coded(values.get("pages", ())),
    )


def _is_coded(pages: Sequence[Mapping[str, Any]]) -> bool:
    encodings = {
        page.get("encoding") for page in pages if page.get("kind") in _DATA_PAGES
    }
    return bool(encodings) and encodings <= _DICTIONARY_ENCODINGS
