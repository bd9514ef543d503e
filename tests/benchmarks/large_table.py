"""An indexed table of 100,000 files and 10,000 commits, made without a log."""

import json
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from django.conf import settings

from apps.jobs.kind import to_json
from apps.jobs.models import Job
from apps.jobs.results import keep_rows
from apps.tables.models import Commit, MetadataVersion, ProtocolVersion, Table
from apps.tables.work.diff_files import DIFF_FILES, DiffFiles
from apps.tables.work.diff_rows import DIFF_ROWS, SAMPLE_ROWS, DiffRows
from apps.tables.work.table_look import TableLook
from deltaweb.delta.changes import ChangeType
from deltaweb.index.files.distribution import partition_totals, size_histogram
from deltaweb.index.folder.file_index import FILES, write_summary
from deltaweb.index.folder.parts import write_parts

T = TypeVar("T")

NUM_FILES = 100_000
NUM_COMMITS = 10_000
NUM_PARTITIONS = 1_000
NUM_COLUMNS = 200
NUM_INDEXED = 16  # columns whose statistics the index of so many files keeps
COMPARED = (6000, NUM_COMMITS - 1)
BATCH = 1_000
OPERATIONS = ("WRITE", "WRITE", "WRITE", "MERGE", "OPTIMIZE", "DELETE")


def write_large_table(table: Table, *, now: datetime) -> None:
    """Store what an index of the table would hold."""
    files = _files(now)
    partitions, num_partitions = partition_totals(files, files["num_records"], ["day"])
    table.summary = {
        "readable_runs": [
            [0, 3999, "GONE", "the log was cleaned"],
            [4000, NUM_COMMITS - 1, "READABLE", ""],
        ],
        "size_histogram": size_histogram(files["size"]),
        "partitions": partitions,
        "num_partitions": num_partitions,
        "commits_30d": [7] * 30,
        "target_file_size_bytes": 128 << 20,
        "events": [{"version": v, "kind": "schema"} for v in range(0, 10_000, 500)],
    }
    table.version = table.latest_version_seen = NUM_COMMITS - 1
    table.committed_at = table.indexed_at = now
    table.num_files = files.num_rows
    table.size_bytes = int(np.sum(files["size"].to_numpy()))
    table.num_records = 100 * NUM_FILES
    table.partition_columns = ["day"]
    table.index_name = "bench"
    table.save()
    folder = Path(settings.HOME) / "index" / str(table.id) / table.index_name
    folder.mkdir(parents=True)
    write_parts(folder, FILES, files.schema, files.to_batches(max_chunksize=65_536))
    write_summary(folder, table.summary)
    _store_rows(table, now)


def _files(now: datetime) -> pa.Table:
    random = np.random.default_rng(1)
    days = [str(date(2024, 1, 1) + timedelta(days=n)) for n in range(NUM_PARTITIONS)]
    chosen = [days[n] for n in random.integers(0, NUM_PARTITIONS, NUM_FILES)]
    now_ms = int(now.timestamp() * 1000)
    return pa.table(
        {
            "path": [
                f"day={day}/part-{number:05}-{random.integers(1 << 60):015x}.parquet"
                for number, day in enumerate(chosen)
            ],
            "size": pa.array(
                np.exp(random.normal(14, 2, NUM_FILES)).astype(np.int64), pa.int64()
            ),
            "modification_time": pa.array(
                now_ms - random.integers(0, 10**10, NUM_FILES), pa.int64()
            ),
            "partition_values": pa.array(
                [[("day", day)] for day in chosen], pa.map_(pa.string(), pa.string())
            ),
            "partition": pa.array(
                [{"day": date.fromisoformat(day)} for day in chosen],
                pa.struct({"day": pa.date32()}),
            ),
            "num_records": pa.array([100] * NUM_FILES, pa.int64()),
            **_statistics(random),
            "stats": pa.nulls(NUM_FILES, pa.string()),
        }
    )


def _statistics(random: np.random.Generator) -> dict[str, pa.StructArray]:
    """Return ranges of the first columns: counted ones, random ones, alternating."""
    starts = 100 * np.arange(NUM_FILES)
    names = [f"column_{number}" for number in range(NUM_INDEXED)]
    lows = {
        name: starts if number % 2 == 0 else random.integers(0, 10**9, NUM_FILES)
        for number, name in enumerate(names)
    }
    zeros = np.zeros(NUM_FILES, dtype=np.int64)
    return {
        "min": pa.table(lows).to_struct_array().combine_chunks(),
        "max": pa.table({n: low + 99 for n, low in lows.items()})
        .to_struct_array()
        .combine_chunks(),
        "null_count": pa.table(dict.fromkeys(names, zeros))
        .to_struct_array()
        .combine_chunks(),
    }


def write_comparison(table: Table, *, now: datetime) -> None:
    """Leave what comparing two versions found: all files differ, and many rows."""
    before, after = COMPARED
    files = _files(now).select(
        ["path", "size", "modification_time", "partition_values"]
    )
    kinds = pa.array(["added", "removed"] * (NUM_FILES // 2))
    size_bytes = pc.sum(files["size"]).as_py()
    job = _done_job(DIFF_FILES, table, DiffFiles(from_=before, to=after), now)
    job.result = {
        **dict.fromkeys(("added", "removed"), NUM_FILES // 2),
        **dict.fromkeys(("added_bytes", "removed_bytes"), size_bytes // 2),
        **dict.fromkeys(("rewritten", "rewritten_into", "shared"), 0),
        **dict.fromkeys(("rewritten_bytes", "rewritten_into_bytes"), 0),
        "rewrites_known": True,
        "estimate": {"files": NUM_FILES, "bytes": size_bytes, "skipped_files": 0},
        "from_totals": {"files": NUM_FILES, "bytes": size_bytes},
        "to_totals": {"files": NUM_FILES, "bytes": size_bytes},
    }
    job.save()
    _keep_result(job, files.add_column(0, "kind", kinds))
    job = _done_job(
        DIFF_ROWS, table, DiffRows(from_=before, to=after, key=("column_0",)), now
    )
    job.result = {
        **dict.fromkeys(("inserted", "deleted", "updated"), 10**6),
        "key": ["column_0"],
        "changed_cells": {"column_1": 10**6},
        **dict.fromkeys(("unmatched_keys", "null_key_rows", "skipped_files"), 0),
        "files_read": NUM_FILES,
        "rows_read": 100 * NUM_FILES,
        "columns_only_in_from": [],
        "columns_only_in_to": [],
        "columns_as_text": [],
        "column_types": {},
        "download_bytes": 0,
    }
    job.save()
    _keep_result(job, _sample())


def _done_job(kind: TableLook[T, Any], table: Table, asked: T, now: datetime) -> Job:
    return Job(
        kind=kind.name,
        title="Compare",
        state=Job.State.DONE,
        subject_id=table.id,
        parameters={"table_id": str(table.id), **to_json(asked)},
        key=kind.key(table, asked),
        created_at=now,
    )


def _keep_result(job: Job, rows: pa.Table) -> None:
    keep_rows(job.id, rows.schema, rows.combine_chunks().to_batches())


def _sample() -> pa.Table:
    """Return the largest sample that a comparison of rows keeps."""
    kinds = [kind.value for kind in ChangeType for _ in range(SAMPLE_ROWS)]
    changed = [["column_1"] if "update" in kind else None for kind in kinds]
    values = {f"column_{n}": range(len(kinds)) for n in range(NUM_INDEXED)}
    return pa.table({"kind": kinds, "changed": changed, **values})


def _store_rows(table: Table, now: datetime) -> None:
    commits = [
        Commit(
            table=table,
            version=version,
            committed_at=now - timedelta(minutes=7) * (NUM_COMMITS - version),
            operation=OPERATIONS[version % len(OPERATIONS)],
            user_name=f"job-{version % 9}",
            engine_info="Apache-Spark/4.0.0",
            sentence=f"Appended {version:,} rows in 10 new files.",
            parameters={"mode": "Append", "predicate": "[]"},
            metrics={f"numOf{number}": str(number) for number in range(20)},
            num_added_files=10,
            added_bytes=10 << 20,
            added_rows=version,
            num_files=version * 10,
            size_bytes=version << 20,
            num_records=version * 1000,
            changes_schema=version % 500 == 0,
            changes_metadata=version % 500 == 0,
        )
        for version in range(NUM_COMMITS)
    ]
    Commit.objects.bulk_create(commits, batch_size=BATCH)
    fields = [
        {"name": f"column_{n}", "type": "long", "nullable": True, "metadata": {}}
        for n in range(NUM_COLUMNS - 1)
    ]
    fields.append({"name": "day", "type": "date", "nullable": True, "metadata": {}})
    MetadataVersion.objects.bulk_create(
        MetadataVersion(
            table=table,
            version=version,
            schema_string=json.dumps({"type": "struct", "fields": fields}),
            partition_columns=["day"],
        )
        for version in range(0, NUM_COMMITS, 500)
    )
    ProtocolVersion.objects.create(
        table=table, version=0, min_reader_version=1, min_writer_version=2
    )
