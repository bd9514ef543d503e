"""Tables in memory whose versions are given by their rows, and what is read of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from deltaweb.delta.errors import DataFileMissingError
from deltaweb.delta.protocol.schema import StructType, arrow_schema, format_schema
from deltaweb.table import DeltaTable
from tests.support.logs.raw_commits import (
    CommittedFile,
    commit_info_action,
    metadata_action,
    protocol_action,
    write_commit,
    write_data_file,
)
from tests.support.stores.memory import MemoryTableStore

Row = Mapping[str, Any]


class CountingStore(MemoryTableStore):
    """A store that takes down which data files were opened, and may have lost all."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.lost = False

    def open_data_file(self, path: str) -> pa.NativeFile:
        self.opened.append(path)
        if self.lost:
            raise DataFileMissingError(path=path)
        return super().open_data_file(path)

    def has_data_file(self, path: str) -> bool:
        return not self.lost and super().has_data_file(path)


class VersionedTable:
    """A table that is written commit by commit."""

    def __init__(self, store: Any = None) -> None:  # noqa: ANN401 (any table store)
        self.store = CountingStore() if store is None else store
        self.version = -1
        self.files: dict[str, CommittedFile] = {}
        self.schema = StructType(())
        self._count = 0

    @property
    def table(self) -> DeltaTable:
        return DeltaTable.from_store(self.store)

    def define(
        self, schema: StructType, properties: Mapping[str, str] | None = None
    ) -> dict[str, object]:
        """Return the metaData action that gives the table a schema."""
        self.schema = schema
        return metadata_action(
            table_id="table",
            schema_string=format_schema(schema),
            created_time=1,
            configuration=properties,
        )

    def commit(  # noqa: PLR0913 (what a commit can do)
        self,
        *,
        add: Mapping[str, Sequence[Row]] | None = None,
        remove: Sequence[str] = (),
        metadata: dict[str, object] | None = None,
        data_change: bool = True,
        operation: str = "WRITE",
        parameters: Mapping[str, object] | None = None,
    ) -> int:
        """Write one commit: files by name with their rows, and files to remove."""
        self.version += 1
        time_ms = 1_700_000_000_000 + self.version * 60_000
        actions = [
            commit_info_action(
                timestamp=time_ms,
                operation=operation,
                parameters=parameters or {},
                metrics={},
                user_name="alice",
                engine_info="tests",
            )
        ]
        if self.version == 0:
            actions.append(protocol_action())
        if metadata is not None:
            actions.append(metadata)
        actions += [
            self.files.pop(name).remove(
                deletion_timestamp=time_ms, data_change=data_change
            )
            for name in remove
        ]
        for name, rows in (add or {}).items():
            data = pa.Table.from_pylist(
                [dict(row) for row in rows], arrow_schema(self.schema)
            )
            self._count += 1
            self.files[name] = write_data_file(
                self.store,
                data,
                file_name=f"{name}-{self._count}.parquet",
                modification_time=time_ms,
            )
            actions.append(self.files[name].add(data_change=data_change))
        write_commit(self.store, self.version, actions)
        return self.version
