"""Reading with deletion vectors: `python -m tests.benchmarks vectors`.

A file of 10,000,000 rows of which a vector deletes 1,000,000, beside the same file
without one, in turn, by processor time.
"""

import gc
import json
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.delta.log.paths import commit_name
from deltaweb.table import DeltaTable
from tests.support.logs.roaring_bitmaps import bitmap_of, vector_file

ROWS = 10_000_000
DELETED = 1_000_000
GROUP_ROWS = 1 << 20
ROUNDS = 5
GOAL = 1.15


def main() -> None:
    """Measure, and print one line."""
    with tempfile.TemporaryDirectory(prefix="deltaweb-bench-") as name:
        folder = Path(name)
        _write(folder)
        pairs = [(_spent(folder, 1), _spent(folder, 0)) for _ in range(ROUNDS)]
    ratio = statistics.median(dead / whole for dead, whole in pairs)
    verdict = "ok  " if ratio <= GOAL else "MISS"
    print(
        f"{verdict} {ROWS:,} rows, {DELETED:,} deleted  {ratio:.2f}x of the same"
        f" without  goal {GOAL:g}"
    )


def _write(folder: Path) -> None:
    """Write a table whose version 0 is whole, and whose version 1 has a vector."""
    numbers = np.arange(ROWS)
    rows = pa.table(
        {
            "id": numbers,
            "amount": numbers / 8,
            "day": (numbers % 3_650).astype(np.int32),
            "text": pa.array([f"text {n}" for n in range(50)]).take(
                pa.array(numbers % 50)
            ),
        }
    )
    pq.write_table(rows, folder / "rows.parquet", row_group_size=GROUP_ROWS)
    chosen = np.random.default_rng(7).choice(ROWS, DELETED, replace=False)
    bitmap = bitmap_of(np.sort(chosen).tolist())
    data, (offset,) = vector_file(bitmap)
    (folder / "rows.bin").write_bytes(data)
    vector = {
        "storageType": "p",
        "pathOrInlineDv": (folder / "rows.bin").as_uri(),
        "offset": offset,
        "sizeInBytes": len(bitmap),
        "cardinality": DELETED,
    }
    names = {"id": "long", "amount": "double", "day": "integer", "text": "string"}
    fields = [
        {"name": name, "type": kind, "nullable": True, "metadata": {}}
        for name, kind in names.items()
    ]
    file = {
        "path": "rows.parquet",
        "partitionValues": {},
        "size": (folder / "rows.parquet").stat().st_size,
        "modificationTime": 1,
        "dataChange": True,
    }
    protocol = {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": ["deletionVectors"],
        "writerFeatures": ["deletionVectors"],
    }
    metadata = {
        "id": "t",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps({"type": "struct", "fields": fields}),
        "partitionColumns": [],
        "configuration": {},
    }
    commits: list[list[dict[str, object]]] = [
        [{"protocol": protocol}, {"metaData": metadata}, {"add": file}],
        [{"remove": file}, {"add": {**file, "deletionVector": vector}}],
    ]
    (folder / "_delta_log").mkdir()
    for version, actions in enumerate(commits):
        lines = "".join(json.dumps(action) + "\n" for action in actions)
        place = folder / "_delta_log" / commit_name(version)
        place.write_text(lines, encoding="utf-8")


def _spent(folder: Path, version: int) -> float:
    snapshot = DeltaTable(str(folder)).snapshot(version)
    gc.collect()
    began_s = time.process_time()
    num_rows = sum(batch.num_rows for batch in snapshot.scan())
    spent_s = time.process_time() - began_s
    if num_rows != ROWS - version * DELETED:
        raise SystemExit(num_rows)
    return spent_s
