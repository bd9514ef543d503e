"""The changes of a range of versions: counts of each, and the newest rows.

They are read in process, or by Spark for large ranges.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangesRead:
    """What a read of changes found, beside them.

    Attributes:
        inserted: The number of inserted rows; `deleted` and `updated` count rows, too.
        num_files: The number of files that were read.
        size: The bytes of these files.
        changes: The number of changes that match the request.
        kept: The number of these changes that are kept as rows.
        alone: Rows of updates whose other row was not found.
        is_sampled: Whether only a part of the updates of a version was matched.
        changed_cells: The number of updates that changed a column, by its name.
        column_types: The types of the columns that were read.
    """

    inserted: int
    updated: int
    deleted: int
    num_files: int
    size: int
    changes: int
    kept: int
    alone: int
    is_sampled: bool
    changed_cells: Mapping[str, int]
    column_types: Mapping[str, str]


def read_changes(job: TrackedJob, asked: ReadChanges) -> ChangesRead:
    """Read changes; keep the newest as the job's rows, and the counts of versions."""
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
        sum(pc.sum(some.files["size"]).as_py() or 0 for some in files),
        settings.SPARK_DIFF_BYTES,
        here=here,
        on_spark=on_spark,
        reports=job,
    )
    keep_rows(job.id, found.changes.schema, found.changes.to_batches())
    counts = found.versions
    keep_rows(job.id, counts.schema, counts.to_batches(), suffix=VERSION_COUNTS)
    return _facts(feed, found)


def _facts(feed: FeedScan, found: FeedDigest) -> ChangesRead:
    counts = {
        name: pc.sum(found.versions[name]).as_py() or 0
        for name in ("inserted", "updated", "deleted", "num_files", "size")
    }
    return ChangesRead(
        **counts,
        changes=found.num_changes,
        kept=found.num_kept,
        alone=found.num_alone,
        is_sampled=found.is_sampled,
        changed_cells={
            name: count for name, count in found.changed_cells.items() if count
        },
        column_types={
            column.name: short_type_text(column.data_type, MAX_TYPE_LENGTH)
            for column in feed.rows.row_schema.fields
            if column.name in feed.rows.columns
        },
    )


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
        result=ChangesRead,
        title=lambda table, asked: (
            f"Read changes of {table.full_name}, versions {asked.from_} to {asked.to}"
        ),
        is_apart=True,
        run=read_changes,
        queue=Queue.SPARK,  # of a large range
        page=on_table(_page),
    )
)
