"""Tables in memory that record their changes, written action by action."""

import io
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.delta.log.paths import commit_name
from deltaweb.table import DeltaTable
from tests.support.stores.memory import MemoryTableStore

FEED_ON = {"delta.enableChangeDataFeed": "true"}
START_MS = 1_700_000_000_000
MINUTE_MS = 60_000


class FedTable:
    """A table whose versions are a minute apart; its first one has no files."""

    def __init__(
        self,
        columns: Mapping[str, str],
        *,
        partitions: tuple[str, ...] = (),
        properties: Mapping[str, str] = FEED_ON,
    ) -> None:
        self.store = MemoryTableStore()
        self.partitions = partitions
        self.version = -1
        protocol = {"minReaderVersion": 1, "minWriterVersion": 4}
        self.commit(
            {"protocol": protocol}, self.metadata(columns, properties=properties)
        )

    @property
    def table(self) -> DeltaTable:
        return DeltaTable.from_store(self.store)

    def metadata(
        self, columns: Mapping[str, object], properties: Mapping[str, str] = FEED_ON
    ) -> dict[str, Any]:
        """Return a metaData; a column is a type, or a field as JSON."""
        fields = [
            {"name": name, "type": kind, "nullable": True, "metadata": {}}
            if isinstance(kind, str)
            else kind
            for name, kind in columns.items()
        ]
        schema = json.dumps({"type": "struct", "fields": fields})
        return {
            "metaData": {
                "id": "t",
                "format": {"provider": "parquet", "options": {}},
                "schemaString": schema,
                "partitionColumns": [*self.partitions],
                "configuration": {**properties},
            }
        }

    def commit(self, *actions: Mapping[str, Any]) -> int:
        """Write a commit; returns its version."""
        self.version += 1
        name = commit_name(self.version)
        lines = "".join(json.dumps(action) + "\n" for action in actions)
        self.store.log_files[name] = lines.encode()
        self.store.modification_times[name] = START_MS + self.version * MINUTE_MS
        return self.version

    def write(self, path: str, rows: pa.Table) -> str:
        """Write a data file, or one of changes."""
        sink = io.BytesIO()
        pq.write_table(rows, sink)
        self.store.put_data_file(path, sink.getvalue())
        return path

    def on_disk(self, folder: Path) -> Path:
        """Write the table into a new folder; return it."""
        files = {
            f"_delta_log/{name}": data for name, data in self.store.log_files.items()
        }
        for path, data in self.store.data_files.items():
            files[path.removeprefix(f"{self.store.root}/")] = data
        for name, data in files.items():
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        for name, time_ms in self.store.modification_times.items():
            os.utime(folder / "_delta_log" / name, (time_ms / 1_000, time_ms / 1_000))
        return folder

    def lose(self, path: str) -> None:
        """Delete a file from storage."""
        del self.store.data_files[f"{self.store.root}/{path}"]

    def add(self, path: str, rows: pa.Table | None = None, **more: Any) -> Any:  # noqa: ANN401 (JSON)
        """Return the add of a file, which is written if there are rows."""
        if rows is not None:
            self.write(path, rows)
        return {"add": _file(path, size=1, modificationTime=1, **more)}

    def remove(self, path: str, **more: Any) -> Any:  # noqa: ANN401 (JSON)
        """Return the remove of a file."""
        return {"remove": _file(path, deletionTimestamp=1, **more)}

    def cdc(self, path: str, rows: pa.Table, **more: Any) -> Any:  # noqa: ANN401 (JSON)
        """Write a file of changes, and return its action."""
        self.write(path, rows)
        return {"cdc": _file(path, size=1, **{"dataChange": False, **more})}

    def changes(self, *versions: int | None, **more: Any) -> list[dict[str, Any]]:  # noqa: ANN401 (of `DeltaTable.changes`)
        """Return the changes but for their times."""
        rows = self.table.changes(*versions, **more).read_all()
        rows.validate(full=True)
        found: list[dict[str, Any]] = rows.drop(["_commit_timestamp"]).to_pylist()
        return found


def _file(path: str, **fields: Any) -> dict[str, Any]:  # noqa: ANN401 (JSON)
    return {"path": path, "partitionValues": {}, "dataChange": True, **fields}


def numbers(*values: int | None, **more: list[Any]) -> pa.Table:
    """Return rows of a long column `n`, and others."""
    return pa.table({"n": pa.array(values, pa.int64()), **more})


def change(n: int | None, kind: str, version: int) -> dict[str, object]:
    """A row of a feed of the column n."""
    return {"n": n, "_change_type": kind, "_commit_version": version}


def renamed_things() -> FedTable:
    """Return a table whose 1 and 2 are inserted; 1 is renamed; both go away.

    Versions 0 to 3; the columns are `id` and `name`.
    """
    fed = FedTable({"id": "long", "name": "string"})
    fed.commit(fed.add("a", things([1, 2], ["x", "y"])), _commit_info("WRITE"))
    changes = things([1, 1], ["x", "z"], ["update_preimage", "update_postimage"])
    fed.commit(
        fed.remove("a"),
        fed.add("b", things([1, 2], ["z", "y"])),
        fed.cdc("_change_data/c", changes),
        _commit_info("UPDATE"),
    )
    fed.commit(fed.remove("b"), _commit_info("DELETE"))
    return fed


def things(
    ids: Sequence[int | None], names: list[str], kinds: list[str] | None = None
) -> pa.Table:
    """Return rows of the columns `id` and `name`, and what became of them."""
    columns = {"id": pa.array(ids, pa.int64()), "name": pa.array(names, pa.string())}
    if kinds is not None:
        columns["_change_type"] = pa.array(kinds)
    return pa.table(columns)


def _commit_info(operation: str) -> dict[str, Any]:
    return {"commitInfo": {"operation": operation, "timestamp": START_MS}}
