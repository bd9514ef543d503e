"""Texts of a data file that are stored as codes of a dictionary.

Where all values of a column chunk are, reading the codes, choosing among them and
only then looking each up takes a third of the time of reading the texts. Where some
are not, it takes ten times as long.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.delta.scan.row_groups import MAX_FOOTER_BYTES, has_every_chunk
from deltaweb.parquet.counts import RowGroupCounts, parse_row_group_counts
from deltaweb.parquet.errors import ParquetError

MIN_ROWS: Final = 10_000
"""In fewer rows finding out takes longer than it saves."""


class CodedColumns:
    """What the footer of a file says of its dictionaries."""

    def __init__(
        self, footer: bytes, metadata: pq.FileMetaData, fields: Sequence[pa.Field]
    ) -> None:
        self._footer = footer
        self._metadata = metadata
        self._fields = fields

    def among(self, names: Iterable[str], row_group: int) -> tuple[str, ...]:
        """Return which columns a row group holds as nothing but codes."""
        if self._metadata.row_group(row_group).num_rows < MIN_ROWS:
            return ()
        wanted = self._texts.intersection(names)
        if not wanted or not self._groups:
            return ()
        group = self._groups[row_group]
        try:
            return tuple(
                name
                for name in sorted(wanted)
                if name in self._leaves and group.chunk(self._leaves[name]).is_coded
            )
        except ParquetError:
            return ()

    @cached_property
    def _texts(self) -> frozenset[str]:
        # A dot in a name cannot be told from a nested column by pyarrow.
        return frozenset(
            field.name
            for field in self._fields
            if field.type in {pa.string(), pa.binary()} and "." not in field.name
        )

    @cached_property
    def _leaves(self) -> dict[str, int]:
        schema = self._metadata.schema
        return {schema.column(i).path: i for i in range(len(schema))}

    @cached_property
    def _groups(self) -> Sequence[RowGroupCounts]:
        """What is known of the row groups; none where the footer is not looked at."""
        if len(self._footer) > MAX_FOOTER_BYTES:
            return ()
        try:
            groups = parse_row_group_counts(self._footer)
        except ParquetError:
            return ()
        return groups if has_every_chunk(groups, self._metadata) else ()
