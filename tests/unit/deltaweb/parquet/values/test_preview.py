"""Rows are read in a child process, whatever happens to it."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.parquet import preview
from deltaweb.parquet.errors import (
    ParquetUnsupportedError,
    RowsMissingError,
    ValuesUnreadableError,
)
from tests.support.files.changed_schemas import Claims, elements_of, with_schema
from tests.support.files.lossy_files import column_cut, empty_first_pages

pytestmark = pytest.mark.slow


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "file.parquet"
    table = pa.table({"n": range(10), "text": [f"é{n}" for n in range(10)]})
    pq.write_table(table, path, row_group_size=4)
    return path


def test_the_first_rows_of_a_local_file(path: Path) -> None:
    assert preview(path, 2) == [{"n": 0, "text": "é0"}, {"n": 1, "text": "é1"}]


def test_pages_without_values_are_passed_over(path: Path) -> None:
    rows = pa.table({"l": [[1, 2], [3], []], "id": [7, 8, 9]})
    path.write_bytes(empty_first_pages(rows))

    assert preview(path) == rows.to_pylist()
    assert preview(path, 2) == rows.to_pylist()[:2]
    assert preview(path, row_group=1) == rows.to_pylist()[1:2]


def test_rows_that_are_missing_are_counted(path: Path) -> None:
    path.write_bytes(column_cut())

    assert preview(path, 2) == [{"a": 0, "b": 0}, {"a": 1, "b": 1}]
    with pytest.raises(ValuesUnreadableError, match="row group 0 has 70,000 rows"):
        preview(path, 70_000)


def test_the_rows_of_one_row_group(path: Path) -> None:
    assert [row["n"] for row in preview(path, 10, row_group=2)] == [8, 9]


def test_columns_of_one_name_are_all_there(path: Path) -> None:
    inner = pa.StructArray.from_arrays([[5], [6]], ["x", "x"])
    names = ["a", "a (2)", "a", "a", "s"]
    table = pa.Table.from_arrays([*([n] for n in range(4)), inner], names=names)
    pq.write_table(table, path)

    assert preview(path, 1) == [
        {"a": 0, "a (2)": 1, "a (3)": 2, "a (4)": 3, "s": {"x": 5, "x (2)": 6}}
    ]


def test_a_file_that_is_read_by_ranges(path: Path) -> None:
    with pa.OSFile(str(path)) as source:
        assert len(preview(source, 5)) == 5


def test_more_memory_than_allowed_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "large.parquet"
    pq.write_table(pa.table({"text": ["x" * (32 << 20)]}), path)

    with pytest.raises(ValuesUnreadableError):
        preview(path, 1, memory_bytes=16 << 20)


def test_more_time_than_allowed_is_an_error(path: Path) -> None:
    with pytest.raises(ValuesUnreadableError, match="took more than"):
        preview(path, 1, timeout_s=0.01)


def test_an_answer_of_many_bytes_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "large.parquet"
    pq.write_table(pa.table({"text": ["x" * (17 << 20)]}), path)

    with pytest.raises(ValuesUnreadableError, match="they take 17 MiB as text"):
        preview(path, 1)


def test_a_file_that_is_not_supported_may_be_healthy(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(with_schema(data, elements_of(data), claims=Claims(codec=3)))

    with pytest.raises(ParquetUnsupportedError, match="LZO") as caught:
        preview(path)
    assert "may be intact" in caught.value.hint


def test_missing_rows_have_their_own_error(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(with_schema(data, elements_of(data), claims=Claims(more_rows=1)))

    with pytest.raises(RowsMissingError, match="row group 0 has 5 rows"):
        preview(path)
