"""The files of a version of which a rule needs copies that are not made yet."""

from contextlib import suppress
from datetime import datetime
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from apps.jobs.running.reports import Reports
from apps.sharing.access.grants.offered import RuledVersion
from apps.sharing.access.grants.prepared import path_of
from apps.sharing.access.grants.rules import TableRule
from apps.sharing.models import PreparedFile, SharedTable
from deltaweb.delta.errors import DeltaError
from deltaweb.delta.log.file_actions import VECTOR, files_of_block
from deltaweb.sharing.plain import has_plain_types
from deltaweb.writer.excerpts import EXCERPT

_UNREADABLE: Final = (OSError, ValueError, LookupError, pa.ArrowException, DeltaError)


def note_plain(
    shared: SharedTable,
    rule: TableRule,
    ruled: RuledVersion,
    reports: Reports,
    *,
    now: datetime,
) -> int:
    """Look at the types of files that may be plain; return how many are.

    They are served as they are stored from then on. A file whose footer cannot be read
    is not one of them: the error comes when it is copied.
    """
    files, keys = missing_files(ruled, is_checked=True)
    if not keys:
        return 0
    open_file = ruled.version.snapshot.row_source(files).open_file
    plain = []
    for row, path in enumerate(files["path"].to_pylist()):
        reports.progress(row, total=len(keys), unit="files")
        with suppress(*_UNREADABLE):
            with open_file(path) as opened:
                is_plain = has_plain_types(pq.ParquetFile(opened), ruled.bound.schema)
            if is_plain:
                plain.append((keys[row], path))
    PreparedFile.objects.bulk_create(
        [
            PreparedFile(
                shared_table=shared,
                key=key,
                rule=rule.digest,
                source_path=path,
                is_stored=True,
                num_rows=0,
                size_bytes=0,
                prepared_at=now,
                last_used_at=now,
            )
            for key, path in plain
        ],
        ignore_conflicts=True,
    )
    return len(plain)


def missing_files(
    ruled: RuledVersion, *, is_checked: bool = False
) -> tuple[pa.Table, list[str]]:
    """Return the files that are not rewritten yet, each with its key.

    Args:
        is_checked: Whether only those count that need no copy if their types are plain.
    """
    found, names = [], []
    for part, keys in zip(ruled.classified, ruled.keys, strict=True):
        checked = part.checked[part.rewritten]
        missing = [
            n
            for n, key in enumerate(keys)
            if key not in ruled.ready and (checked[n] or not is_checked)
        ]
        if missing:
            files = part.part.block.files.filter(pa.array(part.rewritten))
            found.append(files_of_block(files.take(pa.array(missing))))
            names += [keys[n] for n in missing]
    if not found:
        return pa.table({}), names
    columns = ["path", "size", VECTOR, "partition_values"]
    table = pa.Table.from_batches(found).select(columns)
    excerpts = pa.array([path_of(name) for name in names], pa.string())
    return table.append_column(EXCERPT, excerpts), names
