"""Synthetic logs of any size, the same bytes every time.

Two partition columns, ten columns with statistics, about 600 bytes of statistics and
100 bytes of path a file: what a log of a busy table looks like. There are no data
files; what is measured here reads the log alone.
"""

import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

START_MS = 1_735_689_600_000
COUNTRIES = ["DE", "FR", "US", "GB", "JP", "BR", "IN", "AU"]
EVENTS = ["checkout", "click", "login", "page_view", "purchase", "refund"]
COLUMNS = [
    *[("id", "long"), ("ts", "timestamp"), ("day", "date"), ("user_id", "long")],
    *[("event", "string"), ("amount", "double"), ("price", "decimal(12,2)")],
    *[("quantity", "integer"), ("name", "string"), ("session_id", "string")],
    *[("event_date", "date"), ("country", "string")],
]
SCHEMA = {
    "type": "struct",
    "fields": [
        {"name": name, "type": kind, "nullable": True, "metadata": {}}
        for name, kind in COLUMNS
    ],
}
CONFIGURATION = {"delta.deletedFileRetentionDuration": "interval 36500 days"}
METADATA = {
    "id": "5fba94ed-9794-4965-ba6e-6ee3c0d22af9",
    "format": {"provider": "parquet", "options": {}},
    "schemaString": json.dumps(SCHEMA, separators=(",", ":")),
    "partitionColumns": ["event_date", "country"],
    "configuration": CONFIGURATION,
    "createdTime": START_MS,
}
PROTOCOL = {"minReaderVersion": 1, "minWriterVersion": 2}
ROWS_PER_GROUP = 131_072
COMMITS_AT_ONCE = 8192
NANOSECONDS_PER_MS = 1_000_000

STRING_MAP = pa.map_(pa.string(), pa.string())
ADD = pa.struct(
    [
        ("path", pa.string()),
        ("partitionValues", STRING_MAP),
        ("size", pa.int64()),
        ("modificationTime", pa.int64()),
        ("dataChange", pa.bool_()),
        ("stats", pa.string()),
        ("tags", STRING_MAP),
    ]
)
CHECKPOINT_SCHEMA = pa.schema(
    [
        ("txn", pa.struct([("appId", pa.string()), ("version", pa.int64())])),
        ("add", ADD),
        (
            "remove",
            pa.struct(
                [
                    ("path", pa.string()),
                    ("deletionTimestamp", pa.int64()),
                    ("dataChange", pa.bool_()),
                ]
            ),
        ),
        (
            "metaData",
            pa.struct(
                [
                    ("id", pa.string()),
                    ("name", pa.string()),
                    ("description", pa.string()),
                    (
                        "format",
                        pa.struct([("provider", pa.string()), ("options", STRING_MAP)]),
                    ),
                    ("schemaString", pa.string()),
                    ("partitionColumns", pa.list_(pa.string())),
                    ("createdTime", pa.int64()),
                    ("configuration", STRING_MAP),
                ]
            ),
        ),
        (
            "protocol",
            pa.struct(
                [("minReaderVersion", pa.int32()), ("minWriterVersion", pa.int32())]
            ),
        ),
    ]
)


def add_files(first: int, count: int) -> pa.StructArray:
    """Return the `add` structs of files `first` to `first + count - 1`."""
    random = np.random.default_rng([42, first, count])
    number = np.arange(first, first + count)
    days = pa.array(np.datetime64("2024-01-01") + number // 64 % 730).cast(pa.string())
    countries = pa.array(COUNTRIES).take(pa.array(number % len(COUNTRIES)))
    rows = random.integers(20_000, 2_000_000, count)
    unique = pa.array([f"{word:016x}" for word in random.integers(0, 2**63, count)])
    path = pc.binary_join_element_wise(
        *("event_date=", days, "/country=", countries, "/part-00017-", unique),
        *("-4a5b-8c6d-", _text(number), ".c000.snappy.parquet", ""),
    )
    offsets = pa.array(np.arange(0, 2 * count + 1, 2, dtype=np.int32))
    keys = pa.array(["event_date", "country"]).take(pa.array(np.arange(2 * count) % 2))
    values = pa.concat_arrays([days, countries]).take(
        pa.array(np.arange(2 * count).reshape(2, count).T.ravel())
    )
    return pa.StructArray.from_arrays(
        [
            path,
            pa.MapArray.from_arrays(offsets, keys, values),
            pa.array(random.integers(8_000_000, 220_000_000, count)),
            pa.array(START_MS + number * 37),
            pa.array(np.ones(count, dtype=bool)),
            _statistics(number, rows, days, unique),
            pa.nulls(count, STRING_MAP),
        ],
        fields=list(ADD),
    )


def _text(numbers: np.ndarray) -> pa.Array:
    return pa.array(numbers).cast(pa.string())


def _statistics(
    number: np.ndarray, rows: np.ndarray, days: pa.Array, unique: pa.Array
) -> pa.Array:
    """Return the statistics of every file as the JSON text that writers write."""
    events = pa.array(EVENTS).take(pa.array(number % len(EVENTS)))

    def bounds(low: np.ndarray, clock: str, letter: str) -> list[pa.Array | str]:
        return [
            *('{"id":', _text(low), ',"ts":"', days, f'T{clock}.125Z","day":"', days),
            *('","user_id":', _text(low % 99_991), ',"event":"', events),
            *('","amount":', _text(low % 9973), '.25,"price":', _text(low % 997)),
            *('.50,"quantity":', _text(low % 89), f',"name":"{letter}', unique),
            *('","session_id":"', letter, unique, '"}'),
        ]

    nulls = _text(number % 5000)
    pieces = [
        *('{"numRecords":', _text(rows), ',"minValues":'),
        *bounds(number * 1000, "00:00:01", "a"),
        ',"maxValues":',
        *bounds(number * 1000 + rows, "23:59:59", "z"),
        *(',"nullCount":{"id":0,"ts":0,"day":0,"user_id":', nulls),
        *(',"event":0,"amount":', nulls, ',"price":0,"quantity":0,"name":', nulls),
        ',"session_id":0}}',
    ]
    return pc.binary_join_element_wise(*pieces, "")


def write_checkpointed_log(
    folder: Path, *, files: int, tail: int = 9, adds: int = 100, removes: int = 50
) -> Path:
    """Write a checkpoint of `files` files and the commits after it.

    The log starts at the checkpoint, as it does after a clean-up.
    """
    log = folder / "_delta_log"
    log.mkdir(parents=True)
    version = 10
    path = log / f"{version:020d}.checkpoint.parquet"
    with pq.ParquetWriter(path, CHECKPOINT_SCHEMA, compression="snappy") as writer:
        head = [{"protocol": PROTOCOL}, {"metaData": _parquet_metadata()}]
        head += [{"txn": {"appId": f"stream-{n}", "version": n}} for n in range(3)]
        writer.write_table(pa.Table.from_pylist(head, CHECKPOINT_SCHEMA))
        for first in range(0, files, ROWS_PER_GROUP):
            add = add_files(first, min(ROWS_PER_GROUP, files - first))
            columns = [
                add if field.name == "add" else pa.nulls(len(add), field.type)
                for field in CHECKPOINT_SCHEMA
            ]
            table = pa.Table.from_arrays(columns, schema=CHECKPOINT_SCHEMA)
            writer.write_table(table, row_group_size=ROWS_PER_GROUP)
    hint = {"version": version, "size": files + 5}
    (log / "_last_checkpoint").write_text(json.dumps(hint))
    write_commit(log, version, first=0, adds=0, removed=[])
    for number in range(1, tail + 1):
        gone = range((number - 1) * removes, min(number * removes, files))
        removed = _paths_of_checkpoint(files, gone)
        first = files + (number - 1) * adds
        write_commit(log, version + number, first=first, adds=adds, removed=removed)
    return folder


def write_sidecar_log(folder: Path, *, files: int, sidecars: int) -> Path:
    """Write the same log with its files in sidecars, named by JSON.

    Its commits after the checkpoint are as `write_checkpointed_log` has them.
    """
    write_checkpointed_log(folder, files=files, adds=1_000, removes=500)
    log = folder / "_delta_log"
    version = 10
    (log / f"{version:020d}.checkpoint.parquet").unlink()
    (log / "_sidecars").mkdir()
    features = ["v2Checkpoint"]
    listed = {"readerFeatures": features, "writerFeatures": features}
    protocol = {"minReaderVersion": 3, "minWriterVersion": 7, **listed}
    actions: list[dict[str, object]] = [
        {"checkpointMetadata": {"version": version}},
        {"protocol": protocol},
        {"metaData": METADATA},
    ]
    schema = pa.schema([CHECKPOINT_SCHEMA.field(name) for name in ("add", "remove")])
    a_file = files // sidecars
    for number in range(sidecars):
        path = log / "_sidecars" / f"{number}.parquet"
        with pq.ParquetWriter(path, schema, compression="snappy") as writer:
            for first in range(number * a_file, (number + 1) * a_file, ROWS_PER_GROUP):
                add = add_files(
                    first, min(ROWS_PER_GROUP, (number + 1) * a_file - first)
                )
                nothing = pa.nulls(len(add), schema.field("remove").type)
                rows = pa.Table.from_arrays([add, nothing], schema=schema)
                writer.write_table(rows, row_group_size=ROWS_PER_GROUP)
        size = path.stat().st_size
        said = {"path": path.name, "sizeInBytes": size, "modificationTime": START_MS}
        actions.append({"sidecar": said})
    name = f"{version:020d}.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json"
    (log / name).write_text("".join(json.dumps(action) + "\n" for action in actions))
    return folder


def _paths_of_checkpoint(files: int, positions: range) -> list[str]:
    group = add_files(0, min(ROWS_PER_GROUP, files))
    paths = group.field("path").take(pa.array(list(positions), pa.int64()))
    return [str(path) for path in paths]


def write_json_log(folder: Path, *, commits: int, adds: int, removes: int) -> Path:
    """Write `commits` JSON commits without any checkpoint; return the table."""
    log = folder / "_delta_log"
    log.mkdir(parents=True)
    before: list[str] = []
    for version in range(commits):
        removed = before[:removes]
        before = write_commit(
            log, version, first=version * adds, adds=adds, removed=removed
        )
    return folder


def write_long_log(folder: Path, *, commits: int, checkpoint: int) -> Path:
    """Write `commits` commits of one file each, and a checkpoint of one of them.

    All commits are kept, as a log is before its clean-up. What they say of themselves
    is as Spark writes it, and no two say the same.
    """
    log = folder / "_delta_log"
    log.mkdir(parents=True)
    added: list[pa.StructArray] = []
    place = os.open(log, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for first in range(0, commits, COMMITS_AT_ONCE):
            add = add_files(first, min(COMMITS_AT_ONCE, commits - first))
            added.append(add)
            for number, row in enumerate(add.to_pylist(maps_as_pydicts="strict")):
                row.pop("tags")
                _write_short_commit(place, first + number, row)
    finally:
        os.close(place)
    _write_checkpoint(log, checkpoint, pa.concat_arrays(added).slice(0, checkpoint + 1))
    return folder


def append_commit(folder: Path, version: int) -> None:
    """Write one more commit behind a long log."""
    place = os.open(folder / "_delta_log", os.O_RDONLY | os.O_DIRECTORY)
    try:
        (row,) = add_files(version, 1).to_pylist(maps_as_pydicts="strict")
        row.pop("tags")
        _write_short_commit(place, version, row)
    finally:
        os.close(place)


def _write_short_commit(place: int, version: int, add: dict[str, object]) -> None:
    """Write a commit of one file into an opened folder."""
    moment = START_MS + version * 60_000
    rows = str(1000 + version % 7919)
    info = {
        "timestamp": moment,
        "operation": "WRITE",
        "operationParameters": {
            "mode": "Append",
            "partitionBy": json.dumps(METADATA["partitionColumns"]),
        },
        **({"readVersion": version - 1} if version else {}),
        "isolationLevel": "Serializable",
        "isBlindAppend": True,
        "operationMetrics": {
            "numFiles": "1",
            "numOutputRows": rows,
            "numOutputBytes": str(add["size"]),
        },
        "engineInfo": "Apache-Spark/3.5.1 Delta-Lake/3.2.0",
        "txnId": f"{version:08x}-0000-4000-8000-000000000000",
    }
    actions: list[dict[str, object]] = [{"commitInfo": info}]
    if version == 0:
        actions += [{"metaData": METADATA}, {"protocol": PROTOCOL}]
    actions.append({"add": add})
    text = "".join(json.dumps(a, separators=(",", ":")) + "\n" for a in actions)
    name = f"{version:020d}.json"
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644, dir_fd=place)
    try:
        os.write(handle, text.encode())
        os.utime(handle, ns=(moment * NANOSECONDS_PER_MS, moment * NANOSECONDS_PER_MS))
    finally:
        os.close(handle)


def _write_checkpoint(log: Path, version: int, adds: pa.StructArray) -> None:
    """Write a checkpoint of some files, and the hint to it."""
    path = log / f"{version:020d}.checkpoint.parquet"
    head = [{"protocol": PROTOCOL}, {"metaData": _parquet_metadata()}]
    columns = [
        adds if field.name == "add" else pa.nulls(len(adds), field.type)
        for field in CHECKPOINT_SCHEMA
    ]
    with pq.ParquetWriter(path, CHECKPOINT_SCHEMA, compression="snappy") as writer:
        writer.write_table(pa.Table.from_pylist(head, CHECKPOINT_SCHEMA))
        rows = pa.Table.from_arrays(columns, schema=CHECKPOINT_SCHEMA)
        writer.write_table(rows, row_group_size=ROWS_PER_GROUP)
    hint = {"version": version, "size": len(adds) + len(head)}
    (log / "_last_checkpoint").write_text(json.dumps(hint))


def write_commit(
    log: Path, version: int, *, first: int, adds: int, removed: list[str]
) -> list[str]:
    """Write one commit file; return the paths that it adds."""
    moment = START_MS + version * 60_000
    actions: list[dict[str, object]] = [
        {
            "commitInfo": {
                "timestamp": moment,
                "operation": "MERGE" if removed else "WRITE",
                "operationParameters": {"mode": "Append"},
                "operationMetrics": {"numFiles": str(adds)},
                "engineInfo": "benchmark",
            }
        }
    ]
    if version == 0:
        actions += [{"protocol": PROTOCOL}, {"metaData": METADATA}]
    actions += [
        {"remove": {"path": path, "deletionTimestamp": moment, "dataChange": True}}
        for path in removed
    ]
    rows = add_files(first, adds).to_pylist(maps_as_pydicts="strict") if adds else []
    for row in rows:
        row.pop("tags")
        actions.append({"add": row})
    text = "".join(json.dumps(a, separators=(",", ":")) + "\n" for a in actions)
    path = log / f"{version:020d}.json"
    path.write_text(text)
    os.utime(path, (moment / 1000, moment / 1000))
    return [row["path"] for row in rows]


def _parquet_metadata() -> dict[str, object]:
    """Return the metadata as Arrow takes it: maps are lists of pairs."""
    return {
        **METADATA,
        "format": {"provider": "parquet", "options": []},
        "configuration": list(CONFIGURATION.items()),
    }
