"""Column mapping: `python -m tests.benchmarks mapping`.

A table whose columns are stored under names of their own, beside the same table
without: opened with its statistics typed, and read whole, in turn, by processor time.
The columns of the other one are called what the first one stores them as, so that the
logs and the files of both have the same bytes in them but for the schema.
"""

import gc
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.delta.log.paths import commit_name
from deltaweb.table import DeltaTable

LISTED = 50_000  # files of the table that is opened
FILES, ROWS = 40, 50_000  # of the table that is read
COLUMNS = {"id": "long", "amount": "double", "text": "string", "country": "string"}
PARTITION = "country"
ROUNDS = 7
GOAL = 1.05


def main() -> None:
    """Measure, and print a line for opening and one for reading."""
    with tempfile.TemporaryDirectory(prefix="deltaweb-bench-") as name:
        for work, num_files, spend in (("open", LISTED, _open), ("read", FILES, _read)):
            plain, mapped = (
                _written(Path(name) / f"{work}-{is_mapped}", num_files, is_mapped)
                for is_mapped in (False, True)
            )
            ratio = _ratio(spend, mapped, plain)
            verdict = "ok  " if ratio <= GOAL else "MISS"
            print(
                f"{verdict} {work}, columns mapped  {ratio:.2f}x of the same without"
                f"  goal {GOAL:g}"
            )


def _ratio(spend: Callable[[Path], int], mapped: Path, plain: Path) -> float:
    pairs = [(_spent(spend, mapped), _spent(spend, plain)) for _ in range(ROUNDS + 1)]
    return statistics.median(ours / theirs for ours, theirs in pairs[1:])


def _spent(spend: Callable[[Path], int], folder: Path) -> float:
    gc.collect()
    began_s = time.process_time()
    if not spend(folder):
        raise SystemExit(folder)
    return time.process_time() - began_s


def _open(folder: Path) -> int:
    snapshot = DeltaTable(str(folder)).snapshot()
    return int(snapshot.statistics(snapshot.schema.names[:2]).num_rows)


def _read(folder: Path) -> int:
    return sum(batch.num_rows for batch in DeltaTable(str(folder)).snapshot().scan())


def _written(folder: Path, num_files: int, is_mapped: bool) -> Path:  # noqa: FBT001 (one of two forms)
    stored = {
        name: f"col-{place:08x}-5f0e-4d3c-9b7a-2f1d8c6e4a10"
        for place, name in enumerate(COLUMNS)
    }
    names = {name: name if is_mapped else stored[name] for name in COLUMNS}
    (folder / "_delta_log").mkdir(parents=True)
    if num_files == FILES:
        _write_rows(folder, stored)
    fields = [
        {"name": names[name], "type": kind, "nullable": True, "metadata": {}}
        for name, kind in COLUMNS.items()
    ]
    for number, field in enumerate(fields if is_mapped else [], start=1):
        field["metadata"] = {
            "delta.columnMapping.id": number,
            "delta.columnMapping.physicalName": stored[str(field["name"])],
        }
    mode = {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "4"}
    metadata = {
        "id": "t",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps({"type": "struct", "fields": fields}),
        "partitionColumns": [names[PARTITION]],
        "configuration": mode if is_mapped else {},
    }
    # Both ask for the same of readers: only the mapping differs.
    protocol = {"minReaderVersion": 2, "minWriterVersion": 5}
    actions: list[dict[str, object]] = [{"protocol": protocol}, {"metaData": metadata}]
    actions += (_add(number, stored) for number in range(num_files))
    lines = "".join(json.dumps(action) + "\n" for action in actions)
    place = folder / "_delta_log" / commit_name(0)
    place.write_text(lines, encoding="utf-8")
    return folder


def _add(number: int, stored: dict[str, str]) -> dict[str, object]:
    first = number * ROWS
    bounds = {stored["id"]: first, stored["amount"]: first / 8}
    told = {"numRecords": ROWS, "minValues": bounds, "maxValues": bounds}
    return {
        "add": {
            "path": f"part-{number:05d}.parquet",
            "partitionValues": {stored[PARTITION]: ("DE", "FR", "US")[number % 3]},
            "size": 1,
            "modificationTime": 1,
            "dataChange": True,
            "stats": json.dumps(told),
        }
    }


def _write_rows(folder: Path, stored: dict[str, str]) -> None:
    for number in range(FILES):
        numbers = np.arange(number * ROWS, (number + 1) * ROWS)
        rows = pa.table(
            {
                stored["id"]: numbers,
                stored["amount"]: numbers / 8,
                stored["text"]: pa.array([f"text {n}" for n in range(50)]).take(
                    pa.array(numbers % 50)
                ),
            }
        )
        pq.write_table(rows, folder / f"part-{number:05d}.parquet")
