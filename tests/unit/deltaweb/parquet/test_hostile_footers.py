"""A file that ends early, lies of its footer or hides it is a clean error."""

import struct
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.parquet import describe
from deltaweb.parquet.errors import (
    FileEncryptedError,
    FileNotParquetError,
    FooterCorruptError,
)

pytestmark = pytest.mark.slow


def _write(path: Path) -> bytes:
    table = pa.table(
        {
            "n": pa.array([1, None, 3], pa.int32()),
            "day": pa.array([1, 2, 3], pa.date32()),
            "tags": pa.array([["a"], [], None], pa.list_(pa.string())),
            "by": pa.array(
                [[("k", 1.5)], None, []], pa.map_(pa.string(), pa.float64())
            ),
        }
    )
    pq.write_table(table, path, row_group_size=2)
    return path.read_bytes()


def test_a_file_cut_at_any_byte_is_no_parquet_file(tmp_path: Path) -> None:
    path = tmp_path / "file.parquet"
    file = _write(path)

    for end in range(0, len(file) - 1, 7):
        path.write_bytes(file[:end])
        with pytest.raises((FileNotParquetError, FooterCorruptError)):
            describe(path)


@pytest.mark.parametrize("claimed", [0, 2**31, 2**32 - 1])
def test_a_footer_length_that_cannot_be_is_refused(tmp_path: Path, claimed: int):
    path = tmp_path / "file.parquet"
    path.write_bytes(_write(path)[:-8] + struct.pack("<I", claimed) + b"PAR1")

    with pytest.raises(FooterCorruptError, match=f"says that it has {claimed:,} bytes"):
        describe(path)


def test_an_encrypted_footer_is_named(tmp_path: Path) -> None:
    path = tmp_path / "file.parquet"
    path.write_bytes(_write(path)[:-4] + b"PARE")

    with pytest.raises(FileEncryptedError, match="encrypted"):
        describe(path)
