"""The list of the files of an older version, which no index has."""

from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from apps.jobs import kinds
from apps.jobs.results import keep_rows
from apps.jobs.running.tracking import TrackedJob
from apps.tables.models.subjects import on_table, table_of
from apps.tables.storage.opening import open_table, roots_of_server
from apps.tables.work.preview import RowsRead
from apps.tables.work.table_look import TableLook
from deltaweb.delta.log.commits.partition_keys import with_logical_partitions
from deltaweb.delta.log.file_actions import VECTOR
from deltaweb.delta.values.statistics.record_counts import deleted_records, live_records
from deltaweb.index.folder.file_index import DELETED_ROWS

ROWS_A_BATCH: Final = 65_536


@dataclass(frozen=True, slots=True)
class VersionFiles:
    """Which version's files are listed."""

    version: int


def list_version_files(job: TrackedJob, asked: VersionFiles) -> RowsRead:
    """List the files of a version and keep the list as the job's rows.

    A version whose rows may not be read has files all the same; how many rows they
    have is then not said.
    """
    table = table_of(job)
    opened = open_table(table, roots=roots_of_server())
    snapshot = opened.snapshot_metadata(asked.version)
    vectors = snapshot.files[VECTOR]
    files = snapshot.files.select(
        ["path", "size", "modification_time", "partition_values"]
    )
    job.progress(0, unit="files")
    if snapshot.refusal is None:
        num_records = live_records(snapshot.statistics([])["num_records"], vectors)
    else:
        num_records = pa.chunked_array([pa.nulls(files.num_rows, pa.int64())])
    files = with_logical_partitions(files, snapshot.protocol, snapshot.metadata)
    files = files.append_column("num_records", num_records)
    if vectors.null_count < files.num_rows:
        files = files.append_column(DELETED_ROWS, deleted_records(vectors))
    job.progress(files.num_rows, unit="files")
    whole = files.combine_chunks()
    keep_rows(job.id, whole.schema, whole.to_batches(ROWS_A_BATCH))
    count = files.num_rows
    return RowsRead(rows=count, files_scanned=0, files_total=count, more=False)


VERSION_FILES: Final = kinds.register(
    TableLook(
        name="tables.list_version_files",
        words="List the files of a version",
        parameters=VersionFiles,
        result=RowsRead,
        title=lambda table, asked: (
            f"List the files of {table.full_name} at version {asked.version}"
        ),
        first_step="Replaying the log",
        is_apart=True,
        run=list_version_files,
        page=on_table(
            lambda job: ("explorer:file-list", (), {"v": job.parameters["version"]})
        ),
    )
)
