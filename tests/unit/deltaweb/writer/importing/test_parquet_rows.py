"""Parquet files to import that are not read."""

from pathlib import Path

import pyarrow as pa
import pytest

from deltaweb.writer.importing.options import ImportFileError
from deltaweb.writer.importing.parquet_rows import read_parquet
from deltaweb.writer.importing.source_file import SourceFile, open_here
from tests.support.files.changed_schemas import Claims, elements_of, with_schema
from tests.support.files.lossy_files import written

DATA = written(pa.table({"n": [1, 2]}))


def failure(place: Path, data: bytes) -> ImportFileError:
    path = place / "a.parquet"
    path.write_bytes(data)
    with pytest.raises(ImportFileError) as caught:
        list(read_parquet(SourceFile(str(path), "a.parquet", open_here), ["n"]))
    return caught.value


def test_one_that_is_not_supported_may_be_healthy(tmp_path: Path) -> None:
    error = failure(
        tmp_path, with_schema(DATA, elements_of(DATA), claims=Claims(codec=3))
    )

    assert "LZO" in error.reason
    assert "may be intact" in error.hint


def test_one_that_is_no_parquet_file_may_have_another_format(tmp_path: Path) -> None:
    assert "say its format" in failure(tmp_path, b"a,b\n1,2\n").hint
