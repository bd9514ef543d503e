"""A footer with flipped, lost or added bytes is a clean error, or is read."""

import json
import random
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
    ParquetError,
)

pytestmark = pytest.mark.slow

ROUNDS = 2_000


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


def _with_footer(file: bytes, footer: bytes) -> bytes:
    length = struct.unpack("<I", file[-8:-4])[0]
    return file[: -8 - length] + footer + struct.pack("<I", len(footer)) + b"PAR1"


def _mutated(footer: bytes, random_: random.Random) -> bytes:
    changed = bytearray(footer)
    for _ in range(random_.randint(1, 4)):
        position = random_.randrange(len(changed))
        match random_.randrange(4):
            case 0:
                changed[position] ^= 1 << random_.randrange(8)
            case 1:
                changed[position] = random_.randrange(256)
            case 2:
                del changed[position : position + random_.randint(1, 8)]
            case _:
                changed[position:position] = random_.randbytes(random_.randint(1, 8))
    return bytes(changed)


@pytest.mark.parametrize("seed", range(4))
def test_a_mutated_footer_is_read_or_refused(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "file.parquet"
    file = _write(path)
    length = struct.unpack("<I", file[-8:-4])[0]
    footer, random_ = file[-8 - length : -8], random.Random(seed)
    refused = 0

    for _ in range(ROUNDS // 4):
        path.write_bytes(_with_footer(file, _mutated(footer, random_)))
        try:
            json.dumps(describe(path))
        except ParquetError:
            refused += 1

    assert 0 < refused < ROUNDS // 4


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

    with pytest.raises(FooterCorruptError, match=f"claims {claimed:,} bytes"):
        describe(path)


def test_an_encrypted_footer_is_named(tmp_path: Path) -> None:
    path = tmp_path / "file.parquet"
    path.write_bytes(_write(path)[:-4] + b"PARE")

    with pytest.raises(FileEncryptedError, match="encrypted"):
        describe(path)
