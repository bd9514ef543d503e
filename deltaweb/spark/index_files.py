"""The index of a large table: its log is replayed by Spark, its files never held here.

Tasks write the rows of `files.arrow` as part files into the index folder, which every
executor must see; then this process joins them, a batch at a time, and maps the
result into memory. All else of an index is of the size of the history.
"""

import os
import secrets
import shutil
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Final

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import SparkSession

from deltaweb.delta.errors import PartitionValueError
from deltaweb.delta.snapshot import Snapshot
from deltaweb.delta.snapshot.state import SnapshotState
from deltaweb.index.files.file_rows import (
    FileColumns,
    NewestFiles,
    block_rows,
    choose_columns,
    map_newest,
    no_rows,
    write_rows,
)
from deltaweb.index.history.commit_part import CommitPart
from deltaweb.index.history.pool import ReadCommits, read_share, shares_of
from deltaweb.spark.arrow_frames import Batches, row_of
from deltaweb.spark.log.replay import ReplayedState, use_state
from deltaweb.spark.log.tail_layers import Blocks
from deltaweb.spark.task_faults import faults_are_carried, faults_are_raised
from deltaweb.storage.place import TablePlace
from deltaweb.table import DeltaTable

PARTS: Final = "parts"
SHARES_A_CORE: Final = 2  # of a history; progress is reported after them
COUNTS_SCHEMA: Final = pa.schema(
    [("files", pa.int64()), ("deletion_vectors", pa.int64())]
)
PARTS_SCHEMA: Final = pa.schema([("name", pa.string()), ("is_typed", pa.bool_())])


class CountedSnapshot(Snapshot):
    """A version whose files are counted, and are not in this process."""

    num_counted: int = 0

    @property
    def num_files(self) -> int:
        return self.num_counted


@dataclass(slots=True)
class SparkEngine:
    """Replays the versions of one table by Spark; fulfils `deltaweb.index.Engine`."""

    spark: SparkSession
    source: TablePlace
    _vectors: dict[int, int] = field(default_factory=dict, repr=False)

    @property
    def can_share(self) -> bool:
        """The jobs of a run are distinguished by their thread."""
        return False

    def load(self, version: int | None = None) -> Snapshot:
        return use_state(
            self.spark, self.source, version, self._counted, by_compactions=True
        )

    def with_files(self, snapshot: Snapshot) -> Snapshot:
        """Return a version of few files with these in this process."""
        table = DeltaTable.from_store(self.source.open())
        return table.snapshot_metadata(snapshot.version)

    def write_files(self, folder: Path, snapshot: Snapshot) -> NewestFiles:
        """Write `files.arrow`, and map it."""
        write = partial(self._write_files, folder, snapshot)
        return use_state(
            self.spark, self.source, snapshot.version, write, by_compactions=True
        )

    def commit_reader(self, most: int) -> AbstractContextManager[ReadCommits]:  # noqa: ARG002 (tasks are there for any)
        return nullcontext(self._read_commits)

    def _read_commits(
        self, versions: Sequence[int]
    ) -> Generator[CommitPart, None, None]:
        """Yield the parts of commits, a few shares of each core at a time."""
        context = self.spark.sparkContext
        shares = shares_of(versions)
        step = SHARES_A_CORE * context.defaultParallelism
        for first in range(0, len(shares), step):
            some = shares[first : first + step]
            work = partial(_read_share, self.source)
            with faults_are_raised():
                found = context.parallelize(some, len(some)).map(work).collect()
            for parts in found:
                yield from parts

    def _counted(self, state: ReplayedState) -> Snapshot:
        rows = state.map_files(_count_files, COUNTS_SCHEMA).collect()
        snapshot = CountedSnapshot(self.source.open(), _without_files(state))
        snapshot.num_counted = sum(row["files"] for row in rows)
        state.check_totals(num_files=snapshot.num_counted)
        self._vectors[state.version] = sum(row["deletion_vectors"] for row in rows)
        return snapshot

    def _write_files(
        self, folder: Path, snapshot: Snapshot, state: ReplayedState
    ) -> NewestFiles:
        has_vectors = self._vectors[snapshot.version] > 0
        columns = replace(choose_columns(snapshot), has_vectors=has_vectors)
        parts = folder / PARTS
        try:
            names = _write_parts(state, parts, columns)
            if names is None:
                columns = columns.with_texts()
                names = _write_parts(state, parts, columns) or []
            write_rows(folder, columns, _read_parts(parts, names))
        finally:
            shutil.rmtree(parts, ignore_errors=True)
        newest = map_newest(
            folder,
            num_tombstones=state.tombstones().count(),
            is_typed=columns.has_typed_partitions,
        )
        state.check_totals(num_files=newest.num_files, size_bytes=newest.size_bytes)
        return newest


def _without_files(state: ReplayedState) -> SnapshotState:
    return SnapshotState(
        version=state.version,
        protocol=state.protocol,
        metadata=state.metadata,
        blocks=(),
        layers=(),
        checkpoint=None,
        new_transactions={},
        commit_status=state.commit_status,
    )


def _write_parts(
    state: ReplayedState, folder: Path, columns: FileColumns
) -> list[str] | None:
    """Write the rows as part files; None where partition values are not typed."""
    folder.mkdir(exist_ok=True)
    write = partial(_write_part, str(folder), columns)
    found = state.map_files(write, PARTS_SCHEMA).collect()
    if not all(row["is_typed"] for row in found):
        return None
    return sorted(row["name"] for row in found)


def _read_parts(folder: Path, names: Sequence[str]) -> Iterator[pa.Table]:
    for name in names:
        with pa.memory_map(str(folder / name)) as mapped:
            yield pa.ipc.open_file(mapped).read_all()
        (folder / name).unlink()


# === In a task ===


def _read_share(source: TablePlace, versions: Sequence[int]) -> list[CommitPart]:
    with faults_are_carried():
        return read_share(source.open(), versions)


def _count_files(blocks: Blocks) -> Batches:
    for selected in blocks:
        vectors = selected.compact().block.files["dv_id"]
        num_vectors = len(vectors) - vectors.null_count
        yield row_of(COUNTS_SCHEMA, selected.num_files, num_vectors)


def _write_part(folder: str, columns: FileColumns, blocks: Blocks) -> Batches:
    """Write what a task reads as one file; its name sorts as the tasks do."""
    context = TaskContext.get()
    number = 0 if context is None else context.partitionId()
    name = f"{number:08d}-{os.getpid()}-{secrets.token_hex(4)}.arrow"
    schema = no_rows(columns).schema
    is_typed = True
    with (
        pa.OSFile(str(Path(folder) / name), "wb") as sink,
        pa.ipc.new_file(sink, schema) as writer,
    ):
        for block in blocks:
            try:
                rows = block_rows(block, columns)
            except PartitionValueError:
                is_typed = False
                break
            writer.write_table(rows.cast(schema))
    yield row_of(PARTS_SCHEMA, name, is_typed)
