"""File actions brought to the columns of a checkpoint, whatever they come from.

Sources give struct arrays whose fields are those of the log, any of them missing, and
rows that all name a file.
"""

from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from deltaweb.delta.errors import LogCorruptError, UnsupportedFeatureError
from deltaweb.delta.features.deletion_vectors import DELETION_VECTORS
from deltaweb.delta.log.checkpoints.files import partition_values, typed_column
from deltaweb.delta.log.file_actions import PARTITION_VALUES, as_text_map, filled_map
from deltaweb.delta.protocol.schema import StructType
from deltaweb.delta.writing.checkpoint.checkpoint_schema import (
    ADD_EXTRAS,
    VECTOR,
    VECTOR_TYPE,
    CheckpointLayout,
)
from deltaweb.delta.writing.checkpoint.stats_columns import (
    json_statistics,
    typed_partition_values,
    typed_statistics,
)


@dataclass(frozen=True, slots=True)
class FileRows:
    """Some file actions in the columns of a checkpoint; None without any."""

    adds: pa.StructArray | None
    removes: pa.StructArray | None


@dataclass(frozen=True, slots=True)
class RowShaper:
    """Brings file actions to the columns of one checkpoint.

    Attributes:
        oldest_ms: Tombstones of before this time have expired.
    """

    layout: CheckpointLayout
    schema: StructType
    partition_columns: tuple[str, ...]
    oldest_ms: int
    root: str
    version: int
    allows_vectors: bool

    def shape(
        self, adds: pa.StructArray | None, removes: pa.StructArray | None
    ) -> FileRows:
        """Return file actions as the checkpoint has them; None stays None."""
        return FileRows(
            None if adds is None else self.adds(adds),
            None if removes is None else self.removes(removes),
        )

    def adds(self, adds: pa.StructArray) -> pa.StructArray:
        self._check_vectors(adds)
        values = filled_map(partition_values(adds)).cast(PARTITION_VALUES)
        paths = typed_column(adds, "path", pa.string())
        columns: dict[str, pa.Array] = {
            "path": paths,
            "partitionValues": values,
            "tags": text_maps(adds, "tags"),
        }
        if self.layout.has_json_stats:
            columns["stats"] = json_statistics(adds, self.schema)
        if self.layout.partition_type is not None:
            columns["partitionValues_parsed"] = typed_partition_values(
                values, paths, self.schema, self.partition_columns
            )
        if self.layout.stats_type is not None:
            columns["stats_parsed"] = typed_statistics(
                adds, self.schema, self.partition_columns, self.layout.stats_type
            )
        plain = {
            "size": pa.int64(),
            "modificationTime": pa.int64(),
            "dataChange": pa.bool_(),
            **ADD_EXTRAS,
        }
        for field in self.layout.add:
            if field.name == VECTOR:
                columns[VECTOR] = self._vectors(adds)
            elif field.name in plain:
                columns[field.name] = typed_column(adds, field.name, field.type)
        return _struct(columns, self.layout.add)

    def removes(self, removes: pa.StructArray) -> pa.StructArray:
        """Return the tombstones that have not expired as the checkpoint has them."""
        times = typed_column(removes, "deletionTimestamp", pa.int64())
        kept = pc.greater_equal(pc.fill_null(times, 0), self.oldest_ms)
        if kept.true_count < len(removes):
            removes = removes.filter(kept)
        # Vectors stay when the feature is dropped, and tell files of a path apart.
        columns = {
            field.name: text_maps(removes, field.name)
            if field.type == PARTITION_VALUES
            else typed_column(removes, field.name, field.type)
            for field in self.layout.remove
            if field.name != VECTOR
        }
        columns[VECTOR] = self._vectors(removes)
        return _struct(columns, self.layout.remove)

    def _check_vectors(self, actions: pa.StructArray) -> None:
        if self.allows_vectors or actions.type.get_field_index(VECTOR) < 0:
            return
        kinds = pc.struct_field(actions, [VECTOR, "storageType"])
        if kinds.null_count < len(kinds):
            raise UnsupportedFeatureError(
                root=self.root, version=self.version, features=[DELETION_VECTORS]
            )

    def _vectors(self, actions: pa.StructArray) -> pa.StructArray:
        """Return the descriptors of deletion vectors, null where a file has none."""
        if actions.type.get_field_index(VECTOR) < 0:
            return pa.nulls(len(actions), VECTOR_TYPE)
        vectors = pc.struct_field(actions, [VECTOR])
        try:
            parts = [
                typed_column(vectors, part.name, part.type) for part in VECTOR_TYPE
            ]
        except pa.ArrowInvalid:
            path = f"{self.root}/_delta_log"
            reason = "the offset or size of a deletion vector does not fit into an int"
            raise LogCorruptError(path=path, reason=reason) from None
        nothing = reduce(pc.and_, [part.is_null() for part in parts])
        return pa.StructArray.from_arrays(parts, fields=list(VECTOR_TYPE), mask=nothing)


def text_maps(actions: pa.StructArray, name: str) -> pa.Array:
    """Return a field of maps of text, nulls where the source lacks the column."""
    if actions.type.get_field_index(name) < 0:
        return pa.nulls(len(actions), PARTITION_VALUES)
    maps = as_text_map(pc.struct_field(actions, [name]))
    return maps if maps.type == PARTITION_VALUES else maps.cast(PARTITION_VALUES)


def valid_rows(actions: pa.StructArray) -> pa.StructArray:
    """Return actions whose texts are UTF-8, which Parquet's need not be."""
    for name in ("path", "partitionValues"):
        if actions.type.get_field_index(name) >= 0:
            pc.struct_field(actions, [name]).validate(full=True)
    return actions


def _struct(
    columns: dict[str, pa.Array], data_type: pa.StructType
) -> pa.StructArray:  # fmt: skip
    fields = list(data_type)
    return pa.StructArray.from_arrays([columns[f.name] for f in fields], fields=fields)
