"""One file of a checkpoint: its footer, and its columns as far as asked.

Of a row group only the leaf columns that are needed are read, and none of those whose
values are all null by the row group's own counts.

Source: delta_protocol.md, "Checkpoint Format".
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.delta.errors import LogCorruptError
from deltaweb.delta.log_store import LogStore

PARTITION_LEAVES: Final = "add.partitionValues."
READ_FAULTS: Final = (pa.ArrowException, OSError, ValueError, KeyError, TypeError)
UNREADABLE: Final = "it is not a readable checkpoint"


@dataclass(frozen=True, slots=True, eq=False)
class CheckpointPart:
    """One file of a checkpoint, with its footer.

    Attributes:
        store: The table's log.
        name: The file's name.
        footer: Its Parquet footer, read once and shared by all threads.
        leaves: Position of each leaf column by its dotted path.
    """

    store: LogStore
    name: str
    footer: pq.FileMetaData
    leaves: Mapping[str, int] = field(repr=False)
    _nulls: dict[tuple[int, int], bool] = field(default_factory=dict, repr=False)

    @property
    def path(self) -> str:
        """The file, as errors name it."""
        return f"{self.store.root}/_delta_log/{self.name}"

    @property
    def encoded_leaves(self) -> list[str]:
        """The leaves that are kept dictionary-encoded: few values, often repeated."""
        return [leaf for leaf in self.leaves if leaf.startswith(PARTITION_LEAVES)]

    def find_leaves(self, row_group: int, prefix: str) -> list[str]:
        """Return the leaves at or below `prefix`, none where all hold only nulls.

        They come together: a map without the leaf of its values is no map.
        """
        below = f"{prefix}."
        found = [
            leaf for leaf in self.leaves if leaf == prefix or leaf.startswith(below)
        ]
        positions = (self.leaves[leaf] for leaf in found)
        if all(self._is_all_null(row_group, position) for position in positions):
            return []
        return found

    def read(self, row_group: int, leaves: Collection[str]) -> pa.Table:
        """Read leaf columns of one row group.

        Raises:
            LogCorruptError: If the file does not read.
        """
        try:
            with self.store.open_input(self.name) as source:
                file = pq.ParquetFile(
                    source,
                    metadata=self.footer,
                    pre_buffer=False,
                    read_dictionary=self.encoded_leaves,
                )
                return file.read_row_group(
                    row_group, columns=list(leaves), use_threads=False
                )
        except READ_FAULTS:
            raise LogCorruptError(path=self.path, reason=UNREADABLE) from None

    def _is_all_null(self, row_group: int, position: int) -> bool:
        """Tell whether the footer counts nothing but nulls in a column chunk."""
        key = row_group, position
        if key not in self._nulls:
            self._nulls[key] = self._counts_only_nulls(row_group, position)
        return self._nulls[key]

    def _counts_only_nulls(self, row_group: int, position: int) -> bool:
        chunk = self.footer.row_group(row_group).column(position)
        statistics = chunk.statistics if chunk.is_stats_set else None
        return (
            statistics is not None
            and statistics.has_null_count
            and statistics.null_count == chunk.num_values
        )


@dataclass(frozen=True, slots=True)
class RowGroup:
    """Row group `index` of one part: the unit of reading."""

    part: CheckpointPart
    index: int


def open_part(store: LogStore, name: str) -> CheckpointPart:
    """Read the footer of a checkpoint's file.

    Raises:
        LogCorruptError: If it is missing, not Parquet, or not a checkpoint.
    """
    path = f"{store.root}/_delta_log/{name}"
    try:
        with store.open_input(name) as source:
            footer = pq.read_metadata(source)
            leaves = {
                footer.schema.column(position).path: position
                for position in range(footer.num_columns)
            }
    except READ_FAULTS:
        raise LogCorruptError(path=path, reason=UNREADABLE) from None
    if not any(leaf.split(".", 1)[0] in {"add", "metaData"} for leaf in leaves):
        reason = "it holds none of a checkpoint's columns"
        raise LogCorruptError(path=path, reason=reason)
    return CheckpointPart(store, name, footer, leaves)
