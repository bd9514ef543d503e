"""An index folder is there as a whole or not at all."""

from pathlib import Path

import pyarrow as pa
import pytest

from deltaweb.index.file_index import (
    COMMITS,
    FILES,
    SUMMARY,
    IndexMissingError,
    open_index,
    read_batches,
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


class TestOpenIndex:
    def test_reads_what_was_written(self, tmp_path: Path) -> None:
        write(tmp_path / "1", "a", "b")

        index = open_index(tmp_path / "1")

        assert index.files["path"].to_pylist() == ["a", "b"]
        assert index.summary == {"version": 2}

    def test_stays_valid_when_the_folder_is_replaced(self, tmp_path: Path) -> None:
        write(tmp_path / "1", "a")
        index = open_index(tmp_path / "1")

        write(tmp_path / "1", "b")

        assert index.files["path"].to_pylist() == ["a"]
        assert open_index(tmp_path / "1").files["path"].to_pylist() == ["b"]

    @pytest.mark.parametrize(
        "damaged",
        [pytest.param(FILES, id="files"), pytest.param(SUMMARY, id="summary")],
    )
    def test_refuses_a_damaged_one(self, tmp_path: Path, damaged: str) -> None:
        write(tmp_path / "1", "a")
        (tmp_path / "1" / damaged).write_bytes(b"ARROW1 torn")

        with pytest.raises(IndexMissingError):
            open_index(tmp_path / "1")

    def test_refuses_a_missing_one(self, tmp_path: Path) -> None:
        with pytest.raises(IndexMissingError):
            open_index(tmp_path / "1")

    def test_has_no_files_where_none_were_written(self, tmp_path: Path) -> None:
        with written_beside(tmp_path / "1") as beside:
            write_summary(beside, {})

        assert open_index(tmp_path / "1").files.num_columns == 0


class TestReadBatches:
    def test_refuses_a_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(IndexMissingError):
            list(read_batches(tmp_path, COMMITS))


class TestWrittenBeside:
    def test_leaves_nothing_when_the_writer_fails(self, tmp_path: Path) -> None:
        def fail() -> None:
            with written_beside(tmp_path / "1") as beside:
                (beside / FILES).mkdir()
                write_summary(beside / FILES / "missing", {})

        with pytest.raises(FileNotFoundError):
            fail()

        assert list(tmp_path.iterdir()) == []
