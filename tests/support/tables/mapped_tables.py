"""Tables in memory whose columns are stored under other names than they are called."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.delta.protocol.schema.field_keys import FIELD_ID, PHYSICAL_NAME
from deltaweb.table import DeltaTable
from tests.support.logs.delta_logs import Action, LogBuilder, add, metadata, protocol
from tests.support.stores.memory import MemoryTableStore

JsonType = str | dict[str, Any]


def field(
    name: str, kind: JsonType, field_id: object = None, physical: object = None
) -> dict[str, Any]:
    """Return a field of a schema's JSON; None leaves a part of its mapping out."""
    mapping = {FIELD_ID: field_id, PHYSICAL_NAME: physical}
    kept = {key: value for key, value in mapping.items() if value is not None}
    return {"name": name, "type": kind, "nullable": True, "metadata": kept}


def struct(*fields: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON of a struct."""
    return {"type": "struct", "fields": list(fields)}


def with_id(name: str, kind: pa.DataType, field_id: int) -> pa.Field:
    """Return a column of a data file that has an id."""
    return pa.field(name, kind, metadata={"PARQUET:field_id": str(field_id)})


class MappedTable:
    """A table that maps columns, commit by commit.

    Args:
        fields: The columns, as `field` makes them.
        mode: By `name` or by `id`.
        partitions: Logical names of the partition columns.
        properties: Other properties of the table.
    """

    def __init__(
        self,
        *fields: dict[str, Any],
        mode: str = "name",
        partitions: Sequence[str] = (),
        properties: Mapping[str, str] | None = None,
    ) -> None:
        self._properties = {"delta.columnMapping.mode": mode, **(properties or {})}
        self._partitions = list(partitions)
        self._builder = LogBuilder()
        self._version = 0
        self._builder.commit(0, protocol(2, 5), self._metadata(fields))

    @property
    def table(self) -> DeltaTable:
        """The table as it is read."""
        return self._builder.table

    @property
    def store(self) -> MemoryTableStore:
        """Its files."""
        return self._builder.store

    def on_disk(self, folder: Path) -> Path:
        """Write the log and the files into the new folder of a table; return it."""
        self._builder.on_disk(folder)
        for path, content in self.store.data_files.items():
            (folder / path.rpartition("/")[2]).write_bytes(content)
        return folder

    def evolve(self, *fields: dict[str, Any]) -> None:
        """Commit another schema."""
        self._commit(self._metadata(fields))

    def add(
        self,
        path: str,
        rows: pa.Table,
        *,
        row_group_rows: int | None = None,
        **fields: Any,  # noqa: ANN401 (of an add)
    ) -> None:
        """Commit a file, its columns as they are stored."""
        sink = pa.BufferOutputStream()
        pq.write_table(rows, sink, row_group_size=row_group_rows)
        content = sink.getvalue().to_pybytes()
        self.store.put_data_file(path, content)
        self._commit(add(path, size=len(content), **fields))

    def _commit(self, *actions: Action) -> None:
        self._version += 1
        self._builder.commit(self._version, *actions)

    def _metadata(self, fields: Sequence[dict[str, Any]]) -> Action:
        return metadata(
            schemaString=json.dumps(struct(*fields)),
            partitionColumns=self._partitions,
            configuration=self._properties,
        )
