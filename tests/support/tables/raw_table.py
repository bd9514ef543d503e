"""A table in a folder, written commit by commit: its files and their times."""

import os
import shutil
import uuid
from collections.abc import Iterable, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final, Self

import numpy as np
import pyarrow as pa

from deltaweb.delta.protocol.schema import StructType, format_schema
from deltaweb.delta.writing.checkpoint.builder import (
    CheckpointRequest,
    build_checkpoint,
)
from deltaweb.storage.local import LocalTableStore
from tests.support.logs.raw_commits import (
    Action,
    CommittedFile,
    PartitionValues,
    commit_info_action,
    metadata_action,
    protocol_action,
    write_commit,
    write_data_file,
)

ENGINE_INFO: Final = "tests"


def epoch_ms(moment: datetime) -> int:
    """Milliseconds from the Unix epoch to an aware time."""
    return int(moment.timestamp() * 1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """What a commit says of itself."""

    name: str
    user: str
    at: datetime
    parameters: Mapping[str, object] = field(default_factory=dict)
    metrics: Mapping[str, int] = field(default_factory=dict)


class TableWriter:
    """Writes one table below `root`, commit by commit."""

    def __init__(self, root: Path, *, seed: int) -> None:
        self.root = root
        self.random = np.random.default_rng(seed)
        self.version = -1
        self.live: dict[str, tuple[CommittedFile, pa.Table]] = {}
        self._store = LocalTableStore(str(root))
        self._table_id = str(self._uuid())

    def copied_to(self, root: Path) -> Self:
        """Copy the table, times and all, and go on with it there."""
        shutil.copytree(self.root, root)
        other = copy(self)
        other.root, other._store = root, LocalTableStore(str(root))  # noqa: SLF001 (its own class)
        other.random, other.live = deepcopy(self.random), dict(self.live)
        return other

    def write_file(
        self,
        rows: pa.Table,
        *,
        at: datetime,
        partition_values: PartitionValues | None = None,
    ) -> CommittedFile:
        """Write rows as a new data file, which a later commit adds to the table."""
        file = write_data_file(
            self._store,
            rows,
            file_name=f"part-00000-{self._uuid()}.c000.snappy.parquet",
            modification_time=epoch_ms(at),
            partition_values=partition_values,
        )
        self.live[file.path] = (file, rows)
        return file

    def create(
        self,
        schema: StructType,
        operation: Operation,
        *,
        partition_columns: Sequence[str] = (),
        description: str = "",
    ) -> None:
        """Make version 0: the protocol and the metadata of an empty table."""
        metadata = self.metadata(
            schema,
            created_at=operation.at,
            partition_columns=partition_columns,
            description=description,
        )
        self.commit(operation, [protocol_action(), metadata])

    def metadata(
        self,
        schema: StructType,
        *,
        created_at: datetime,
        partition_columns: Sequence[str] = (),
        description: str = "",
        configuration: Mapping[str, str] | None = None,
    ) -> Action:
        """The metadata of this table with the given schema and properties."""
        return metadata_action(
            table_id=self._table_id,
            schema_string=format_schema(schema),
            created_time=epoch_ms(created_at),
            partition_columns=partition_columns,
            configuration=configuration,
            description=description or None,
        )

    def commit(self, operation: Operation, actions: Iterable[Action]) -> None:
        """Write the next version, dated as the operation."""
        kept = list(actions)
        info = commit_info_action(
            timestamp=epoch_ms(operation.at),
            operation=operation.name,
            parameters=operation.parameters,
            metrics=operation.metrics,
            user_name=operation.user,
            engine_info=ENGINE_INFO,
            read_version=self.version if self.version >= 0 else None,
            is_blind_append=bool(kept) and all("add" in action for action in kept),
        )
        self.version += 1
        write_commit(self._store, self.version, [info, *kept])
        self._date(f"{self.version:020d}.json", operation.at)

    def checkpoint(self, at: datetime) -> None:
        """Write the checkpoint of the newest version."""
        build_checkpoint(self._store, CheckpointRequest(now=at))
        self._date(f"{self.version:020d}.checkpoint.parquet", at)
        self._date("_last_checkpoint", at)

    def _date(self, log_file: str, at: datetime) -> None:
        seconds = at.timestamp()
        os.utime(self.root / "_delta_log" / log_file, (seconds, seconds))

    def _uuid(self) -> uuid.UUID:
        return uuid.UUID(bytes=self.random.bytes(16), version=4)
