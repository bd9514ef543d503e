"""The log of `logs`, of whose files one in five has a deletion vector."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tests.benchmarks.logs import (
    ADD,
    CHECKPOINT_SCHEMA,
    CONFIGURATION,
    METADATA,
    ROWS_PER_GROUP,
    add_files,
    write_commit,
)

MARKED = 5
"""Of so many files one has a vector."""
VERSION = 10
VECTOR = pa.struct(
    [
        ("storageType", pa.string()),
        ("pathOrInlineDv", pa.string()),
        ("offset", pa.int32()),
        ("sizeInBytes", pa.int32()),
        ("cardinality", pa.int64()),
    ]
)
FEATURES = ["deletionVectors"]
TEXTS = pa.list_(pa.string())
PROTOCOL = pa.struct(
    [
        ("minReaderVersion", pa.int32()),
        ("minWriterVersion", pa.int32()),
        ("readerFeatures", TEXTS),
        ("writerFeatures", TEXTS),
    ]
)
SCHEMA = pa.schema(
    [
        ("add", pa.struct([*ADD, pa.field("deletionVector", VECTOR)])),
        CHECKPOINT_SCHEMA.field("metaData"),
        ("protocol", PROTOCOL),
    ]
)


def write_vectored_log(folder: Path, *, files: int) -> Path:
    """Write a checkpoint of `files` files, and commits after it; no file is there."""
    log = folder / "_delta_log"
    log.mkdir(parents=True)
    protocol = {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": FEATURES,
        "writerFeatures": FEATURES,
    }
    metadata = {
        **METADATA,
        "format": {"provider": "parquet", "options": []},
        "configuration": [*CONFIGURATION.items()],
    }
    path = log / f"{VERSION:020d}.checkpoint.parquet"
    with pq.ParquetWriter(path, SCHEMA, compression="snappy") as writer:
        head = [{"protocol": protocol}, {"metaData": metadata}]
        writer.write_table(pa.Table.from_pylist(head, SCHEMA))
        for first in range(0, files, ROWS_PER_GROUP):
            adds = _marked(first, min(ROWS_PER_GROUP, files - first))
            nothing = [pa.nulls(len(adds), field.type) for field in list(SCHEMA)[1:]]
            table = pa.Table.from_arrays([adds, *nothing], schema=SCHEMA)
            writer.write_table(table, row_group_size=ROWS_PER_GROUP)
    (log / "_last_checkpoint").write_text(
        json.dumps({"version": VERSION, "size": files + len(head)})
    )
    write_commit(log, VERSION, first=0, adds=0, removed=[])
    for number in range(1, 10):
        first = files + (number - 1) * 1_000
        write_commit(log, VERSION + number, first=first, adds=1_000, removed=[])
    return folder


def _marked(first: int, count: int) -> pa.StructArray:
    """Return files as `add_files` does, and their vectors."""
    adds = add_files(first, count)
    number = np.arange(first, first + count)
    random = np.random.default_rng([7, first])
    names = pa.array([f"{word:020d}" for word in random.integers(0, 2**63, count)])
    vectors = pa.StructArray.from_arrays(
        [
            pa.array(["u"]).take(pa.array(np.zeros(count, dtype=np.int32))),
            names,
            pa.array(np.ones(count, dtype=np.int32)),
            pa.array(random.integers(34, 4_000, count).astype(np.int32)),
            pa.array(random.integers(1, 20_000, count)),
        ],
        fields=list(VECTOR),
        mask=pc.not_equal(pa.array(number % MARKED), 0),
    )
    return pa.StructArray.from_arrays(
        [*adds.flatten(), vectors], fields=list(SCHEMA.field("add").type)
    )
