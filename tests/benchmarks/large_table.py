"""An indexed table of 100,000 files and 10,000 commits, made without a log."""

import json
from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
from django.conf import settings

from apps.tables.models import Commit, MetadataVersion, ProtocolVersion, Table
from deltaweb.index.distribution import partition_totals, size_histogram
from deltaweb.index.file_index import FILES, write_batches, write_summary

NUM_FILES = 100_000
NUM_COMMITS = 10_000
NUM_PARTITIONS = 1_000
NUM_COLUMNS = 200
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
    write_batches(folder, FILES, files.schema, files.to_batches(max_chunksize=65_536))
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
            "num_records": pa.array([100] * NUM_FILES, pa.int64()),
        }
    )


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
