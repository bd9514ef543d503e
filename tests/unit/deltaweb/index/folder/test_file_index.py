"""An index folder is there as a whole or not at all."""

from pathlib import Path

import pyarrow as pa
import pytest

from deltaweb.index.folder.file_index import (
    COMMITS,
    FILES,
    IndexMissingError,
    bounded_batches,
    link_file,
    map_batches,
    open_files,
    write_batches,
    write_summary,
    written_beside,
)

SCHEMA = pa.schema({"path": pa.string()})


def write(folder: Path, *paths: str) -> None:
    with written_beside(folder) as beside:
        batch = pa.RecordBatch.from_pylist([{"path": path} for path in paths], SCHEMA)
        write_batches(beside, FILES, SCHEMA, [batch])
        write_summary(beside, {"version": len(paths)})


class TestOpenFiles:
    def test_reads_what_was_written(self, tmp_path: Path) -> None:
        write(tmp_path / "1", "a", "b")

        assert open_files(tmp_path / "1")["path"].to_pylist() == ["a", "b"]

    def test_stays_valid_when_the_folder_is_replaced(self, tmp_path: Path) -> None:
        write(tmp_path / "1", "a")
        files = open_files(tmp_path / "1")

        write(tmp_path / "1", "b")

        assert files["path"].to_pylist() == ["a"]
        assert open_files(tmp_path / "1")["path"].to_pylist() == ["b"]

    def test_refuses_a_damaged_one(self, tmp_path: Path) -> None:
        write(tmp_path / "1", "a")
        (tmp_path / "1" / FILES).write_bytes(b"ARROW1 torn")

        with pytest.raises(IndexMissingError):
            open_files(tmp_path / "1")

    def test_refuses_a_missing_one(self, tmp_path: Path) -> None:
        with pytest.raises(IndexMissingError):
            open_files(tmp_path / "1")

    def test_has_no_files_where_none_were_written(self, tmp_path: Path) -> None:
        with written_beside(tmp_path / "1") as beside:
            write_summary(beside, {})

        assert open_files(tmp_path / "1").num_columns == 0


class TestWrittenBeside:
    def test_leaves_nothing_when_the_writer_fails(self, tmp_path: Path) -> None:
        def fail() -> None:
            with written_beside(tmp_path / "1") as beside:
                (beside / FILES).mkdir()
                write_summary(beside / FILES / "missing", {})

        with pytest.raises(FileNotFoundError):
            fail()

        assert list(tmp_path.iterdir()) == []


class TestMapBatches:
    def test_outlive_the_folder_and_leave_out_empty_ones(self, tmp_path: Path) -> None:
        batches = [
            pa.RecordBatch.from_pylist(rows, SCHEMA)
            for rows in ([{"path": "a"}], [], [{"path": "b"}])
        ]
        write_batches(tmp_path, COMMITS, SCHEMA, batches)

        mapped = map_batches(tmp_path, COMMITS, SCHEMA)

        (tmp_path / COMMITS).unlink()
        assert [batch["path"].to_pylist() for batch in mapped] == [["a"], ["b"]]

    def test_refuse_a_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(IndexMissingError):
            map_batches(tmp_path, COMMITS, SCHEMA)

    def test_are_of_the_schema(self, tmp_path: Path) -> None:
        write_batches(tmp_path, COMMITS, SCHEMA, [])

        with pytest.raises(IndexMissingError):
            map_batches(tmp_path, COMMITS, pa.schema({"path": pa.int64()}))


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param([0, 0], [], id="no rows"),
        pytest.param([1, 1], [2], id="small ones are joined"),
        pytest.param([7], [3, 3, 1], id="a large one is parted"),
        pytest.param([1, 3, 1, 1], [1, 3, 2], id="what does not fit waits for more"),
        pytest.param([2, 2, 2, 1], [2, 2, 2, 1], id="half a batch is not copied"),
    ],
)
def test_batches_are_bounded_and_few_are_small(
    lengths: list[int], expected: list[int]
) -> None:
    numbers = iter(range(100))
    tables = [
        pa.table({"number": [next(numbers) for _ in range(length)]}).cast(
            pa.schema({"number": pa.int64()})
        )
        for length in lengths
    ]

    batches = [*bounded_batches(tables, 3)]

    assert [batch.num_rows for batch in batches] == expected
    rows = [number for batch in batches for number in batch["number"].to_pylist()]
    assert rows == [*range(sum(lengths))]


def test_a_file_is_copied_where_it_cannot_be_linked(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "new").mkdir()
    (tmp_path / "old" / FILES).write_bytes(b"rows")
    (tmp_path / "new" / FILES).write_bytes(b"in the way of a link")

    link_file(tmp_path / "new", FILES, tmp_path / "old")

    assert (tmp_path / "new" / FILES).read_bytes() == b"rows"
