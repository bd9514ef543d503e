"""What a worker compares for a page: the files of two versions, or their rows.

Results stay below the home folder: an Arrow file that the page maps, and of rows also a
Parquet file with all of them, to be downloaded. Rows are compared in process, or by an
engine that is handed in: that of Spark, for large changes.
"""

import secrets
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from django.conf import settings

from apps.jobs.leftovers import SCRATCH_FOLDER
from apps.tables.change_file import ChangeFile
from apps.tables.change_json import files_json, rows_json
from apps.tables.locations import check_allowed
from apps.tables.models import Table
from apps.tables.opening import open_table, roots_of_server
from apps.tables.reading import ROWS_A_BATCH, results_folder, write_result
from apps.tables.storage_connections import options_for
from deltaweb.delta.errors import PathEscapesTableError
from deltaweb.delta.log_store import TableStore
from deltaweb.delta.schema import type_text
from deltaweb.delta.table_changes import (
    FileChanges,
    RowDiffRequest,
    SnapshotDiff,
    diff_rows,
)
from deltaweb.delta.table_changes.snapshots import DiffRows

SAMPLE_ROWS: Final = 200  # of each kind
MAX_LOOKED_FOR: Final = 500  # files of a version, each a question to storage
MISSING_NAMED: Final = 3
KIND: Final = "kind"

Report = Callable[[int, int], None]


def open_diff(table: Table, parameters: dict[str, Any]) -> SnapshotDiff:
    """Open two versions of a table, `from` and `to`, to be compared.

    Raises:
        DeltaError: If a version cannot be read.
    """
    opened = open_table(table, roots=roots_of_server())
    return opened.compare(parameters["from"], parameters["to"])


def is_for_spark(diff: SnapshotDiff) -> bool:
    """Tell whether the files that differ are more than one process should compare.

    Raises:
        DeltaError: If a version may not be read.
    """
    return diff.estimate().size_bytes > int(settings.SPARK_DIFF_BYTES)


def place_facts(table: Table) -> dict[str, Any]:
    """Return the fields of a `deltaweb.spark.changed_rows.DataPlace`: in no text.

    Raises:
        DeltaError: If the table's location is no longer allowed, or the options of
            its storage cannot be opened.
    """
    check_allowed(table.location, roots=roots_of_server())
    return {
        "location": table.location,
        "storage_options": options_for(table.location),
        "allowed_roots": tuple(settings.ALLOWED_ROOTS or ()),
    }


def compare_files(
    table: Table, parameters: dict[str, Any], *, job_id: object
) -> dict[str, Any]:
    """Compare the files of two versions and keep what differs as the job's result.

    Args:
        table: The table.
        parameters: `from` and `to`, versions; in `partly` those of them of which
            files may be deleted.
        job_id: Names the result: kind, path, size, modification_time and
            partition_values of each file that one of the versions lacks.

    Returns:
        The counts of `files_json`, `estimate` (what comparing rows will read), files
        and bytes of both versions, and `missing` as `_missing_files` tells it.

    Raises:
        DeltaError: If a version cannot be read.
    """
    opened = open_table(table, roots=roots_of_server())
    diff = opened.compare(parameters["from"], parameters["to"])
    files = _changed_files(diff.files)
    write_result(job_id, files.schema, files.to_batches(ROWS_A_BATCH))
    estimate = diff.estimate()
    return {
        **files_json(diff.files),
        "estimate": {
            "files": estimate.num_files,
            "bytes": estimate.size_bytes,
            "skipped_files": estimate.num_skipped_files,
        },
        "from_totals": {
            "files": diff.before.num_files,
            "bytes": diff.before.size_bytes,
        },
        "to_totals": {"files": diff.after.num_files, "bytes": diff.after.size_bytes},
        "missing": _missing_files(opened.store, diff, parameters.get("partly", ())),
    }


def compare_rows(
    diff: SnapshotDiff,
    key: Sequence[str],
    *,
    job_id: object,
    report: Report,
    engine: DiffRows = diff_rows,
) -> dict[str, Any]:
    """Compare the rows of two versions and keep what changed as the job's result.

    Args:
        diff: The versions, from `open_diff`.
        key: Names of the key columns.
        job_id: Names the results: a sample, and all of it as Parquet.
        report: Told what is done so far, and of how much; it may raise to stop.
        engine: What compares the rows.

    Returns:
        The counts of `rows_json`, and how large the Parquet file is.

    Raises:
        DeltaError: As `SnapshotDiff.rows` does.
    """
    path = all_rows_path(job_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    with _scratch_folder(job_id) as folder, ChangeFile(path) as file:
        request = RowDiffRequest(
            key=key, folder=folder, sample_rows=SAMPLE_ROWS, on_progress=report
        )
        changes = diff.rows(file.joined(request), engine)
    sample = changes.sample.to_table()
    write_result(job_id, sample.schema, sample.to_batches())
    skipped = diff.estimate().num_skipped_files
    return {
        **rows_json(changes),
        "column_types": {
            field.name: type_text(field.data_type)
            for field in changes.columns.schema.fields
        },
        "download_bytes": path.stat().st_size,
        "skipped_files": skipped,
    }


def all_rows_path(job_id: object) -> Path:
    """Where the Parquet file of every changed row of a job is."""
    return results_folder() / f"{job_id}.parquet"


def _changed_files(files: FileChanges) -> pa.Table:
    parts = {
        "added": files.added,
        "removed": files.removed,
        "rewritten": files.replaced,
        "rewritten_into": files.replacing,
    }
    columns = ["path", "size", "modification_time", "partition_values"]
    tables = []
    for kind, part in parts.items():
        kinds = pa.repeat(pa.scalar(kind, pa.string()), part.num_rows)
        tables.append(part.select(columns).add_column(0, KIND, kinds))
    return pa.concat_tables(tables).combine_chunks()


def _missing_files(
    store: TableStore, diff: SnapshotDiff, partly: Collection[int]
) -> list[dict[str, Any]]:
    """Look whether files that comparing rows would read are deleted.

    Args:
        store: The table.
        diff: Its versions.
        partly: Those of which files may be deleted.

    Returns:
        Of each version that lacks any: `version`, `files` (how many it lacks),
        `of` (how many were looked for) and the first of their `paths`.
    """
    sides = ((diff.before, diff.files.removed), (diff.after, diff.files.added))
    found = []
    for snapshot, files in sides:
        if snapshot.version not in partly:
            continue
        looked_for = files["path"].slice(0, MAX_LOOKED_FOR).to_pylist()
        gone = [path for path in looked_for if _is_missing(store, path)]
        if gone:
            found.append(
                {
                    "version": snapshot.version,
                    "files": len(gone),
                    "of": len(looked_for),
                    "paths": gone[:MISSING_NAMED],
                }
            )
    return found


def _is_missing(store: TableStore, path: str) -> bool:
    try:
        return not store.has_data_file(path)
    except PathEscapesTableError:
        return False  # nobody may look: reading it says so


@contextmanager
def _scratch_folder(job_id: object) -> Iterator[Path]:
    """Give a folder to spread rows in; another worker may be at the same job.

    What a killed one leaves is swept (`apps.jobs.leftovers`).
    """
    mark = secrets.token_hex(4)
    folder = Path(settings.HOME) / SCRATCH_FOLDER / f"{job_id}-{mark}"
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
