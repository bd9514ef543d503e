"""What `describe` and `preview` take: paths, and files that are open already."""

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.parquet import describe, preview
from deltaweb.parquet.errors import FileNotParquetError
from tests.support import cases

pytestmark = pytest.mark.slow


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"n": [1, 2, 3]}), path, row_group_size=2)
    return path


WAYS: dict[str, Callable[[Path], Any]] = {
    "text": str,
    "a path": Path,
    "a file of Arrow": lambda path: pa.OSFile(str(path)),
    "bytes in memory": lambda path: io.BytesIO(path.read_bytes()),
    "fsspec": lambda path: fsspec.open(f"file://{path}").open(),
}


@cases("opened", WAYS)
def test_a_file_is_described_however_it_is_given(path: Path, opened) -> None:
    source = opened(path)

    assert describe(source)["num_rows"] == 3
    if hasattr(source, "close"):
        source.close()


# A process reads the rows: of a file that has a path, or of a copy.
@cases("opened", WAYS, often=["text", "bytes in memory"])
def test_its_rows_are_read_however_it_is_given(path: Path, opened) -> None:
    source = opened(path)

    assert preview(source, 2) == [{"n": 1}, {"n": 2}]
    if hasattr(source, "close"):
        source.close()


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotParquetError, match="it is a folder"):
        describe(tmp_path)


def test_a_pipe_is_refused_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(FileNotParquetError, match="not a regular file"):
        preview(tmp_path / "pipe")


def test_what_is_not_there_is_told_by_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        describe(tmp_path / "gone")
