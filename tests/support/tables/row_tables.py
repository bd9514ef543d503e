"""Tables of real Parquet files, whose rows tests read."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.delta.log.file_actions import DELETION_VECTOR
from deltaweb.delta.protocol.column_path import ColumnPath
from deltaweb.delta.protocol.schema import (
    DataType,
    PrimitiveType,
    StructField,
    StructType,
)
from deltaweb.delta.scan.rows import RowScan, RowSource, iter_rows, read_rows
from deltaweb.delta.values.statistics.columns import parse_statistics

LONG, STRING = PrimitiveType("long"), PrimitiveType("string")
TIMESTAMP = PrimitiveType("timestamp")
MAPS = pa.map_(pa.string(), pa.string())


def schema_of(**columns: DataType) -> StructType:
    return StructType(tuple(StructField(name, kind) for name, kind in columns.items()))


class Table:
    """Files in a folder, and a count of what was opened."""

    def __init__(
        self, folder: Path, schema: StructType, partitions: Sequence[str] = ()
    ) -> None:
        self.folder = folder
        self.schema = schema
        self.partitions = partitions
        self.adds: list[tuple[str, dict[str, str | None], str | None]] = []
        self.vectors: dict[str, dict[str, Any]] = {}
        self.opened: list[str] = []

    def add(
        self,
        rows: pa.Table,
        partition: dict[str, str | None] | None = None,
        stats: str | None = None,
        vector: dict[str, Any] | None = None,
        **options: Any,  # noqa: ANN401 # of the Parquet writer
    ) -> str:
        path = f"{len(self.adds)}.parquet"
        pq.write_table(rows, self.folder / path, **options)
        self.adds.append((path, partition or {}, stats))
        if vector is not None:
            self.vectors[path] = vector
        return path

    def open_file(self, path: str) -> pa.NativeFile:
        self.opened.append(path)
        return pa.OSFile(str(self.folder / path))

    def statistics(self, columns: Sequence[ColumnPath]) -> pa.Table:
        texts = pa.array([stats for _, _, stats in self.adds], pa.string())
        return parse_statistics(pa.chunked_array([texts]), self.schema, columns)

    @property
    def source(self) -> RowSource:
        files = pa.table(
            {
                "path": pa.array([path for path, _, _ in self.adds], pa.string()),
                "partition_values": pa.array(
                    [list(values.items()) for _, values, _ in self.adds], MAPS
                ),
                "deletion_vector": pa.array(
                    [self.vectors.get(path) for path, _, _ in self.adds],
                    DELETION_VECTOR,
                ),
            }
        )
        return RowSource(
            self.schema, self.partitions, files, self.open_file, self.statistics
        )

    def read(self, **options: Any) -> list[dict[str, Any]]:  # noqa: ANN401 # of read_rows
        rows = read_rows(self.source, **options)
        rows.validate(full=True)
        result: list[dict[str, Any]] = rows.to_pylist()
        return result

    def scan(self, **options: Any) -> RowScan:  # noqa: ANN401 # of iter_rows
        return iter_rows(self.source, **options)
