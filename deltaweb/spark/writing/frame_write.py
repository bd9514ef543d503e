"""`write_table`: a DataFrame becomes rows of a table."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession

from deltaweb.delta.features.change_feed import writes_changes
from deltaweb.delta.writing.errors import UnsupportedWriteError
from deltaweb.delta.writing.transaction import CommitResult
from deltaweb.spark.arrow_frames import map_in_arrow
from deltaweb.spark.writing.faults import spark_errors_are_ours
from deltaweb.spark.writing.file_rows import FILE_NUMBER, FILE_PLACE, numbered_rows
from deltaweb.spark.writing.file_tasks import (
    PART_SCHEMA,
    TaskFiles,
    discard_parts,
    write_task,
)
from deltaweb.spark.writing.part_commit import base_snapshot, commit_parts
from deltaweb.spark.writing.replaced_rows import FoundRows, find_rows
from deltaweb.spark.writing.session.checked_sql import is_true
from deltaweb.spark.writing.session.conditions import with_verdicts
from deltaweb.spark.writing.session.settings import settings_of
from deltaweb.spark.writing.session.stored_values import with_stored_times
from deltaweb.spark.writing.spark_types import frame_schema
from deltaweb.spark.writing.write_plan import (
    SaveMode,
    WritePlan,
    WriteRequest,
    plan_write,
)
from deltaweb.storage.place import TablePlace
from deltaweb.writer.overwrite import ReplacedRows

FEED: Final = "the change data of files that Spark writes again"


def write_table(  # noqa: PLR0913  # what a write may be asked for
    frame: DataFrame,
    location: str,
    mode: str = "append",
    *,
    partition_by: Sequence[str] | None = None,
    where: str | None = None,
    merge_schema: bool = False,
    overwrite_schema: bool = False,
    dynamic: bool = False,
    txn: tuple[str, int] | None = None,
    properties: Mapping[str, str] | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> CommitResult:
    """Write a DataFrame to a table; the same commit makes one where there is none.

    Each partition of the DataFrame is written by one task, to files of its own.

    Args:
        location: The table: a path, or a URL that fsspec knows.
        mode: `append`, `overwrite`, `error` or `ignore`, as in Spark.
        where: With `overwrite`, only rows that this SQL is true for go, by the settings
            of the session; every new row must satisfy it.
        merge_schema: Whether columns that the table lacks are added to it.
        overwrite_schema: With `overwrite`, whether the table takes the schema of the
            rows.
        dynamic: With `overwrite`, whether only those partitions go that new rows are
            in.
        txn: An application and how far it comes with this; nothing is done where the
            table has that version of it already.

    Returns:
        What became of it; `version` is None where nothing was to be done.

    Raises:
        DeltaError: As `DeltaTable.append` and `DeltaTable.overwrite` list them; a
            condition that cannot be evaluated in process is none, Spark does.
        ValueError: If the mode is none, or it is said in two ways what goes.
    """
    place = TablePlace(location=location, storage_options=storage_options or {})
    request = WriteRequest(
        mode=SaveMode.parse(mode),
        partition_by=None if partition_by is None else tuple(partition_by),
        where=where,
        merge_schema=merge_schema,
        overwrite_schema=overwrite_schema,
        dynamic=dynamic,
        txn=txn,
        properties=dict(properties or {}),
    )
    settings = settings_of(frame.sparkSession)
    plan = plan_write(place, frame_schema(frame.schema), request, settings)
    if plan is None:
        return CommitResult(version=None)
    if where is None:
        return commit_parts(plan, write_frame(frame, plan))
    return _replace_where(frame, plan, where)


def _replace_where(frame: DataFrame, plan: WritePlan, where: str) -> CommitResult:
    """Write rows in the place of those of a condition, of the version of the plan."""
    snapshot = base_snapshot(plan)
    parts = write_frame(frame, plan)
    try:
        found = find_rows(
            frame.sparkSession, plan.place, snapshot, where, plan.settings
        )
        kept = write_others(frame.sparkSession, plan, found, where)
    except BaseException:
        discard_parts(plan.place.open(), parts)
        raise
    replaced = ReplacedRows(
        removed=found.files,
        num_rows=found.num_whole + found.num_matching,
        read=found.read,
        where=where,
    )
    num_copied = sum(part.num_rows for part in kept)
    return commit_parts(plan, [*parts, *kept], replaced=replaced, num_copied=num_copied)


def write_others(
    spark: SparkSession, plan: WritePlan, found: FoundRows, where: str
) -> list[TaskFiles]:
    """Write the rows of files again that a condition is not true for."""
    if not found.touched.num_rows:
        return []
    if writes_changes(plan.protocol, plan.metadata):
        store, version = plan.place.open(), plan.base.version if plan.base else 0
        raise UnsupportedWriteError(root=store.root, version=version, needs=[FEED])
    with numbered_rows(spark, found.reading, found.touched) as rows:
        others = rows.filter(~is_true(rows, where)).drop(FILE_NUMBER, FILE_PLACE)
        copied = found.touched.select(["partition_values"])
        return write_frame(others, replace(plan, is_checked=False, copied=copied))


def write_frame(frame: DataFrame, plan: WritePlan) -> list[TaskFiles]:
    """Write rows as data files by tasks, and return what each answered."""
    with spark_errors_are_ours(frame.sparkSession):
        rows = frame
        if plan.is_checked:
            rows = with_stored_times(frame, plan.schema)
            rows = plan.filled.add_to(rows, plan.schema)
            rows = with_verdicts(rows, plan.schema, plan.elsewhere)
        parts = map_in_arrow(rows, partial(write_task, plan), PART_SCHEMA).collect()
    return [TaskFiles(bytes(p.files), p.num_rows, p.num_bytes) for p in parts]
