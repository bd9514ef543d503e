"""The files that differ between two versions."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from apps.jobs import kinds
from apps.jobs.models import Job
from apps.jobs.results import keep_rows
from apps.jobs.running.tracking import TrackedJob
from apps.pages.page_json import shaped
from apps.tables.models.subjects import Page, on_table, table_of
from apps.tables.storage.opening import open_table, roots_of_server
from apps.tables.versions.change_json import FileCounts, file_counts
from apps.tables.versions.file_checks import is_missing
from apps.tables.work.table_look import TableLook
from apps.tables.work.version_files import ROWS_A_BATCH
from deltaweb.delta.changes import SnapshotDiff
from deltaweb.delta.log.commits.partition_keys import with_logical_partitions
from deltaweb.delta.log.store import TableStore

MAX_LOOKED_FOR: Final = 500  # files of a version, each a question to storage
MISSING_NAMED: Final = 3
KIND: Final = "kind"
FEW_FILES: Final = 10_000  # of a table whose versions are compared before somebody asks


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffFiles:
    """Which versions are compared.

    Attributes:
        partly: Those of them of which files may be deleted.
    """

    from_: int
    to: int
    partly: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadEstimate:
    """What comparing rows would read, and the files that it can skip."""

    files: int
    bytes: int
    skipped_files: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesTotal:
    """All files of a version, and their bytes."""

    files: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LackingSide:
    """A version that lacks files which comparing rows would read.

    Attributes:
        files: The number of missing files.
        of: The number of files that were checked.
        paths: The paths of the first missing files.
    """

    version: int
    files: int
    of: int
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDiff(FileCounts):
    """What comparing the files of two versions found."""

    estimate: ReadEstimate
    from_totals: FilesTotal
    to_totals: FilesTotal
    missing: tuple[LackingSide, ...] = ()


def diff_files(job: TrackedJob, asked: DiffFiles) -> FileDiff:
    """Compare the files of two versions and keep what differs as the job's rows.

    The rows are kind, path, size, modification_time and partition_values of each file
    that one of the versions lacks.
    """
    table = table_of(job)
    opened = open_table(table, roots=roots_of_server())
    diff = opened.compare(asked.from_, asked.to)
    files = _changed_files(diff)
    keep_rows(job.id, files.schema, files.to_batches(ROWS_A_BATCH))
    estimate = diff.estimate()
    before, after = diff.before, diff.after
    return shaped(
        FileDiff,
        file_counts(diff.files),
        estimate=ReadEstimate(
            files=estimate.num_files,
            bytes=estimate.size_bytes,
            skipped_files=estimate.num_skipped_files,
        ),
        from_totals=FilesTotal(files=before.num_files, bytes=before.size_bytes),
        to_totals=FilesTotal(files=after.num_files, bytes=after.size_bytes),
        missing=tuple(_missing_files(opened.store, diff, asked.partly)),
    )


def _changed_files(diff: SnapshotDiff) -> pa.Table:
    files, before, after = diff.files, diff.before, diff.after
    parts = {
        "added": (files.added, after),
        "removed": (files.removed, before),
        "rewritten": (files.replaced, before),
        "rewritten_into": (files.replacing, after),
    }
    columns = ["path", "size", "modification_time", "partition_values"]
    tables = []
    for kind, (part, snapshot) in parts.items():
        kinds = pa.repeat(pa.scalar(kind, pa.string()), part.num_rows)
        named = with_logical_partitions(
            part.select(columns), snapshot.protocol, snapshot.metadata
        )
        tables.append(named.add_column(0, KIND, kinds))
    return pa.concat_tables(tables).combine_chunks()


def _missing_files(
    store: TableStore, diff: SnapshotDiff, partly: Collection[int]
) -> Iterator[LackingSide]:
    """Look whether files that comparing rows would read are deleted.

    Args:
        partly: Those of which files may be deleted.
    """
    sides = ((diff.before, diff.files.removed), (diff.after, diff.files.added))
    for snapshot, files in sides:
        if snapshot.version not in partly:
            continue
        looked_for = files["path"].slice(0, MAX_LOOKED_FOR).to_pylist()
        gone = [path for path in looked_for if is_missing(store, path)]
        if gone:
            yield LackingSide(
                version=snapshot.version,
                files=len(gone),
                of=len(looked_for),
                paths=tuple(gone[:MISSING_NAMED]),
            )


def _page(job: Job) -> Page:
    versions = (job.parameters["from"], job.parameters["to"])
    return "explorer:compare-detail", versions, {}


DIFF_FILES: Final = kinds.register(
    TableLook(
        name="tables.diff_files",
        words="Compare files",
        parameters=DiffFiles,
        result=FileDiff,
        title=lambda table, asked: (
            f"Compare files of {table.full_name}, versions {asked.from_} and {asked.to}"
        ),
        first_step="Replaying the log",
        is_apart=True,
        is_cheap=lambda table, _: (table.num_files or 0) <= FEW_FILES,
        run=diff_files,
        page=on_table(_page),
    )
)
