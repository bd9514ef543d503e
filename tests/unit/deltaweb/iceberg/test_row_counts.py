"""Rows of files of which the log does not say how many they have."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.iceberg.errors import InexpressibleError
from deltaweb.iceberg.row_counts import MAX_FOOTERS, with_row_counts


def files(*counts: int | None) -> pa.Table:
    paths = [f"{number}.parquet" for number in range(len(counts))]
    return pa.table({"path": paths, "num_records": pa.array(counts, pa.int64())})


def test_files_are_asked_where_the_log_does_not_say(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": range(25)}), tmp_path / "1.parquet", row_group_size=9)

    found = with_row_counts(
        files(3, None, 5), lambda path: pa.OSFile(str(tmp_path / path))
    )

    assert found["num_records"].to_pylist() == [3, 25, 5]


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "0.parquet").write_bytes(b"no Parquet at all")

    with pytest.raises(InexpressibleError, match="a file is not Parquet"):
        with_row_counts(files(None), lambda path: pa.OSFile(str(tmp_path / path)))


def test_many_files_are_not_asked() -> None:
    with pytest.raises(InexpressibleError, match="how many rows"):
        with_row_counts(files(*[None] * (MAX_FOOTERS + 1)), pa.OSFile)
