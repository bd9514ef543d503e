"""A table whose files were written by several hands, and one that is none."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.support.logs.delta_logs import add, commit_bytes, metadata, protocol
from tests.support.logs.local_logs import typed_schema

SCHEMA = typed_schema(id="long", at="timestamp", amount="long", channel="string")


def write_mixed_table(folder: Path, *, is_empty: bool = False) -> Path:
    """Write the table: as it should be, with an old time, narrower, and a bad file."""
    log = folder / "_delta_log"
    log.mkdir(parents=True)
    times = pa.array([1, 2, 3], pa.timestamp("us", "UTC"))
    usual = {"id": [1, 2, 3], "at": times, "amount": [1, 2, 3], "channel": ["a"] * 3}
    narrow = {**usual, "amount": pa.array([1, 2, 3], pa.int32()), "extra": ["x"] * 3}
    del narrow["channel"]
    old = {"id": [1, 2, 3], "at": times, "amount": [1, 2, 3]}
    pq.write_table(pa.table(usual), folder / "usual.parquet", compression="zstd")
    pq.write_table(pa.table(narrow), folder / "narrow.parquet", row_group_size=2)
    pq.write_table(
        pa.table(old), folder / "legacy.parquet", use_deprecated_int96_timestamps=True
    )
    (folder / "bad.parquet").write_bytes(b"no Parquet at all")
    files = sorted(folder.glob("*.parquet"))
    adds = [add(file.name, size=file.stat().st_size) for file in files]
    actions = [protocol(), metadata(schemaString=SCHEMA), *([] if is_empty else adds)]
    (log / f"{0:020}.json").write_bytes(commit_bytes(*actions))
    return folder
