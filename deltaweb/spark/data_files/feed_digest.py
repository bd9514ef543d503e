"""What the changes of a large range come to, read by tasks.

The same answer as `deltaweb.delta.feed.digest` gives, by the same pieces: tasks read
the files and keep what was inserted and deleted; the rows of updates are spread by
their key, and matched where they meet. The driver gets counts and names of files, and
takes the rows that were kept from those, a task at a time.
"""

import json
import secrets
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession

from deltaweb.delta.changes.row_changes import CHANGE_TYPE, ChangeType
from deltaweb.delta.errors import DataFileMissingError
from deltaweb.delta.feed.changed_files import ChangedFiles
from deltaweb.delta.feed.changed_rows import FeedRequest, FeedRows, FeedScan
from deltaweb.delta.feed.digest import (
    COUNTS_SCHEMA,
    Digester,
    DigestRequest,
    FeedDigest,
)
from deltaweb.delta.feed.errors import FeedFileMissingError
from deltaweb.delta.feed.matched_updates import own_columns
from deltaweb.delta.feed.row_schema import COMMIT_VERSION
from deltaweb.delta.values.data_values import relabelled
from deltaweb.spark.arrow_frames import (
    Batches,
    map_in_arrow,
    row_of,
    run_parts,
    unpacked,
)
from deltaweb.spark.changed_rows import PARTITION, spread
from deltaweb.spark.data_files.shares import deal_out, num_tasks, size_bytes
from deltaweb.spark.job import OnProgress, run_job
from deltaweb.spark.task_faults import faults_are_carried
from deltaweb.storage.place import TablePlace
from deltaweb.storage.write_faults import write_fault

TITLE: Final = "Read changes"
_SPREAD: Final = pa.schema(
    [
        (PARTITION, pa.int32()),
        ("rows", pa.binary()),
        ("facts", pa.string()),
    ]
)
"""Rows of updates, or what a task has found, as JSON that names a file of the rest."""
_FOUND: Final = pa.schema([("facts", pa.string())])
_UPDATES: Final = pa.array([ChangeType.UPDATE_BEFORE, ChangeType.UPDATE_AFTER])


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedTask:
    """What every task knows.

    Attributes:
        folder: Where tasks leave what they kept; the driver sees it.
    """

    place: TablePlace
    rows: FeedRows
    schema: pa.Schema
    wanted: DigestRequest
    num_partitions: int
    folder: str

    @property
    def spread_by(self) -> list[str]:
        """The columns that both rows of an update have in common."""
        by = self.wanted.key or own_columns(self.schema.names)
        return [COMMIT_VERSION, *by]


@dataclass(frozen=True, slots=True)
class FeedShare:
    """Files that a task reads, which all tell the kind of each change, or none does.

    Attributes:
        number: Its place among the shares: what is found in it goes the same way when
            its task is tried again.
    """

    files: pa.Table
    tells_kinds: bool
    number: int


def digest_changes(
    spark: SparkSession,
    place: TablePlace,
    request: FeedRequest,
    wanted: DigestRequest,
    on_progress: OnProgress,
) -> FeedDigest:
    """Read the changes of a range for a page."""
    feed = FeedScan(place.open(), request)
    files = list(feed.files(with_sizes=True))
    digester = Digester(feed.schema, wanted, is_ordered=False)
    for changed in files:
        digester.add_files(changed)
    at_least = spark.sparkContext.defaultParallelism
    shares = _shares(files, at_least)
    if not shares:
        return digester.result()
    total = sum(size_bytes(changed.files) for changed in files)
    with tempfile.TemporaryDirectory(
        prefix="changes-", ignore_cleanup_errors=True
    ) as folder:
        task = FeedTask(
            place=place,
            rows=feed.rows,
            schema=feed.schema,
            wanted=wanted,
            num_partitions=num_tasks(total, at_least=at_least),
            folder=folder,
        )
        try:
            for facts in _run(spark, task, shares, on_progress):
                digester.merge(_left_by_task(task, json.loads(facts)))
        except DataFileMissingError as error:
            raise _missing(files, error) from None
    return digester.result()


def _shares(files: list[ChangedFiles], at_least: int) -> list[FeedShare]:
    found: list[FeedShare] = []
    for tells in (True, False):
        tables = [some.files for some in files if some.tells_kinds == tells]
        if tables:
            dealt = deal_out(pa.concat_tables(tables), at_least=at_least)
            found += [
                FeedShare(share, tells, number)
                for number, share in enumerate(dealt, len(found))
            ]
    return found


def _run(
    spark: SparkSession,
    task: FeedTask,
    shares: list[FeedShare],
    on_progress: OnProgress,
) -> list[str]:
    with run_parts(spark, shares, partial(read_share, task), _SPREAD) as blocks:
        met = blocks.repartitionById(task.num_partitions, blocks[PARTITION])
        frame = map_in_arrow(met, partial(match_share, task), _FOUND)
        rows = run_job(spark, frame.collect, on_progress, title=TITLE)
    return [row[0] for row in rows]


def _missing(
    files: list[ChangedFiles], error: DataFileMissingError
) -> FeedFileMissingError | DataFileMissingError:
    for changed in files:
        at = pc.index(changed.files["path"], error.path).as_py()
        if at >= 0:
            version = int(changed.versions[at])
            return FeedFileMissingError(path=error.path, version=version)
    return error


# === In tasks ===


def read_share(task: FeedTask, share: FeedShare) -> Batches:
    """Read files, keep what they inserted and deleted, and spread rows of updates."""
    digester = Digester(task.schema, task.wanted, is_ordered=False)
    with faults_are_carried():
        updates = _updates(task, share, digester)
        for number, block in spread(updates, task.spread_by, task.num_partitions):
            yield row_of(_SPREAD, number, block, None)
        facts = _leave(task, digester.result())
    yield row_of(_SPREAD, share.number % task.num_partitions, None, facts)


def _updates(
    task: FeedTask, share: FeedShare, digester: Digester
) -> Iterator[pa.Table]:
    open_file = task.place.open().open_data_file
    for batch in task.rows.scan(share.files, open_file, tells_kinds=share.tells_kinds):
        rows = relabelled(batch, task.schema)
        is_update = pc.is_in(rows.column(CHANGE_TYPE), value_set=_UPDATES)
        updates = rows.filter(is_update)
        if updates.num_rows < rows.num_rows:
            digester.add(rows.filter(pc.invert(is_update)))
        if updates.num_rows:
            yield pa.table(updates)


def match_share(task: FeedTask, batches: Batches) -> Batches:
    """Match the rows of updates that met; yields what was found, and passes it on."""
    digester = Digester(task.schema, task.wanted, is_ordered=False)
    for batch in batches:
        for block, facts in zip(batch["rows"], batch["facts"], strict=True):
            if facts.is_valid:
                yield row_of(_FOUND, facts.as_py())
                continue
            for rows in unpacked(block.as_buffer()).to_batches():
                digester.add(rows)
    with faults_are_carried():
        yield row_of(_FOUND, _leave(task, digester.result()))


def _leave(task: FeedTask, found: FeedDigest) -> str:
    """Leave what was kept in a file; returns the facts that name it."""
    name = ""
    if found.num_kept:
        name = secrets.token_hex(8)  # a task that is tried again has a file of its own
        path = Path(task.folder) / name
        try:
            with pa.ipc.new_stream(str(path), found.changes.schema) as writer:
                writer.write_table(found.changes)
        except OSError as error:
            raise write_fault(error, place=task.folder) from error
    return json.dumps(
        {
            "name": name,
            "versions": found.versions.to_pydict(),
            "num_changes": found.num_changes,
            "num_kept": found.num_kept,
            "num_alone": found.num_alone,
            "changed_cells": dict(found.changed_cells),
            "is_sampled": found.is_sampled,
        }
    )


def _left_by_task(task: FeedTask, facts: dict[str, Any]) -> FeedDigest:
    name = facts.pop("name")
    versions = pa.table(facts.pop("versions"), schema=COUNTS_SCHEMA)
    if not name:
        empty = Digester(task.schema, task.wanted).result().changes
        return FeedDigest(versions=versions, changes=empty, **facts)
    with (
        pa.OSFile(str(Path(task.folder) / name)) as file,
        pa.ipc.open_stream(file) as reader,
    ):
        return FeedDigest(versions=versions, changes=reader.read_all(), **facts)
