"""The changes of a range of versions: counts of each, and the newest rows.

They are read in process, or by Spark for large ranges.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pyarrow.compute as pc
from django.conf import settings

from apps.jobs import kinds
from apps.jobs.kind import Queue
from apps.jobs.models import Job
from apps.jobs.results import keep_rows
from apps.jobs.running.tracking import TrackedJob
from apps.tables.index.engine import choose
from apps.tables.models.subjects import Page, on_table, table_of
from apps.tables.storage.opening import roots_of_server, table_place
from apps.tables.work.table_look import TableLook
from deltaweb.delta.feed.changed_rows import FeedRequest, FeedScan
from deltaweb.delta.feed.digest import KINDS, DigestRequest, FeedDigest, digest_changes
from deltaweb.delta.protocol.column_path import join_names
from deltaweb.delta.protocol.schema import short_type_text
from deltaweb.expressions.condition import SQLCondition
from deltaweb.spark import data_files

if TYPE_CHECKING:
    from apps.tables.index.spark_session import SparkSession

VERSION_COUNTS: Final = ".versions.arrow"  # the suffix of the counts by version
MAX_TYPE_LENGTH: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadChanges:
    """Which changes are read.

    Attributes:
        from_, to: The first version and the last, both included.
        key: Names of the columns by which the rows of an update are matched.
        kinds: Which kinds of changes are kept: some of "insert", "update", "delete".
        changed: A column that updates are to have changed, or "".
        predicate: A condition in SQL on the rows, or "".
    """

    from_: int
    to: int
    key: tuple[str, ...] = ()
    kinds: tuple[str, ...] = KINDS
    changed: str = ""
    predicate: str = ""


def read_changes(job: TrackedJob, asked: ReadChanges) -> dict[str, Any]:
    """Read changes, and keep the newest as the job's rows, and the counts of versions.

    Returns:
        What `_facts` says.
    """
    table = table_of(job)
    job.step("Reading the log")
    place = table_place(table, roots=roots_of_server())
    request = FeedRequest(
        versions=(asked.from_, asked.to),
        predicate=asked.predicate or None,
        parse_sql=SQLCondition,
        is_shown=True,
    )
    wanted = DigestRequest(key=asked.key, kinds=asked.kinds, changed=asked.changed)
    feed = FeedScan(place.open(), request)
    files = list(feed.files(with_sizes=True))

    def here() -> FeedDigest:
        job.step("Reading the changes")
        return digest_changes(feed, files, wanted, job.progress_of("versions"))

    def on_spark(spark: "SparkSession") -> FeedDigest:
        job.step("Reading the changes")
        tell = job.progress_of("tasks")
        return data_files.feed_digest.digest_changes(
            spark, place, request, wanted, tell
        )

    found, _engine = choose(
        lambda: sum(pc.sum(some.files["size"]).as_py() or 0 for some in files),
        settings.SPARK_DIFF_BYTES,
        here=here,
        on_spark=on_spark,
        reports=job,
    )
    keep_rows(job.id, found.changes.schema, found.changes.to_batches())
    counts = found.versions
    keep_rows(job.id, counts.schema, counts.to_batches(), suffix=VERSION_COUNTS)
    return _facts(feed, found)


def _facts(feed: FeedScan, found: FeedDigest) -> dict[str, Any]:
    counts = {
        name: pc.sum(found.versions[name]).as_py() or 0
        for name in found.versions.column_names
        if name not in {"version", "from_change_files"}
    }
    return {
        **counts,
        "changes": found.num_changes,
        "kept": found.num_kept,
        "alone": found.num_alone,
        "is_sampled": found.is_sampled,
        "changed_cells": {
            name: count for name, count in found.changed_cells.items() if count
        },
        "column_types": {
            column.name: short_type_text(column.data_type, MAX_TYPE_LENGTH)
            for column in feed.rows.row_schema.fields
            if column.name in feed.rows.columns
        },
    }


def _page(job: Job) -> Page:
    asked = job.parameters
    query = {"from": asked["from"], "to": asked["to"]}
    key = join_names(asked.get("key") or ())
    return "explorer:change-list", (), query | ({"by": key} if key else {})


READ_CHANGES: Final = kinds.register(
    TableLook(
        name="tables.read_changes",
        words="Read changes",
        parameters=ReadChanges,
        result=dict[str, Any],
        title=lambda table, asked: (
            f"Read changes of {table.full_name}, versions {asked.from_} to {asked.to}"
        ),
        is_apart=True,
        run=read_changes,
        queue=Queue.SPARK,  # of a large range
        page=on_table(_page),
    )
)
