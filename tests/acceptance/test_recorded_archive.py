"""The archive of our own recorded tables and files, and what is unpacked of it."""

import tarfile

from tests.recorded import (
    deltalake_tables,
    parquet_files,
    spark_histories,
    spark_tables,
)
from tests.support.golden.recorded import ARCHIVE, is_own, own_folder

MAX_BYTES = 4_000_000


def test_what_is_unpacked_is_what_the_archive_has() -> None:
    folder = own_folder()
    with tarfile.open(ARCHIVE) as archive:
        packed = {
            member.name: file.read() if (file := archive.extractfile(member)) else None
            for member in archive
        }

    unpacked = {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }

    assert unpacked == packed
    assert ARCHIVE.stat().st_size <= MAX_BYTES


def test_it_has_each_table_and_file_that_the_script_writes() -> None:
    folder = own_folder()
    of_spark = {**spark_tables.TABLES, **spark_histories.TABLES}

    names = {path.name for path in (folder / "tables").iterdir()}
    files = {path.stem for path in (folder / "parquet").glob("*.parquet")}

    assert names == {
        *(f"delta-spark__{name}" for name in of_spark),
        *(f"deltalake__{name}" for name in deltalake_tables.TABLES),
    }
    assert all(map(is_own, names))
    assert files == {*parquet_files.GOOD, *parquet_files.SPARK}
