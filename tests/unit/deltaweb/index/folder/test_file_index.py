"""An index folder is there as a whole or not at all."""

from pathlib import Path

import pyarrow as pa
import pytest

from deltaweb.index.folder.file_index import (
    FILES,
    bounded_batches,
    open_files,
    write_summary,
    written_beside,
)
from deltaweb.index.folder.parts import IndexMissingError, write_parts
from tests.support import cases

SCHEMA = pa.schema({"path": pa.string()})


def write(folder: Path, *paths: str) -> None:
    with written_beside(folder) as beside:
        batch = pa.RecordBatch.from_pylist([{"path": path} for path in paths], SCHEMA)
        write_parts(beside, FILES, SCHEMA, [batch])
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


@cases(
    "lengths, expected",
    {
        "nothing": ([], []),
        "no rows": ([0, 0], []),
        "small ones are joined": ([1, 1], [2]),
        "a large one is parted": ([7], [3, 3, 1]),
        "what does not fit waits for more": ([1, 3, 1, 1], [1, 3, 2]),
        "half a batch is not copied": ([2, 2, 2, 1], [2, 2, 2, 1]),
    },
)
def test_batches_are_bounded_and_few_are_small(lengths: list[int], expected: list[int]):
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
