"""Write all recorded tables and files again, and pack them: `make recorded`."""

import json
import lzma
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from os import utime
from pathlib import Path
from typing import Final

import pytest

from tests.recorded import (
    deltalake_tables,
    parquet_files,
    spark_histories,
    spark_tables,
)
from tests.recorded.expectations import SPARK, Subject, expectations
from tests.recorded.parquet_expectations import (
    bad_expectations,
    parquet_expectations,
)
from tests.recorded.readers import DELTALAKE, SparkReader
from tests.recorded.recipe import AGE, CHECKPOINT, Recipe, keep_commits
from tests.support.golden.recorded import ARCHIVE, SUFFIX
from tests.support.peers.reference_implementation import running_reference

MAX_BYTES: Final = 4_000_000


def main() -> None:
    """Write, record and pack all tables and files."""
    with tempfile.TemporaryDirectory() as name:
        work, packed = Path(name), Path(name) / "packed"
        (session := work / "session").mkdir()
        with running_reference(session) as reference:
            spark = SparkReader(reference, session)
            for subject in _subjects(work, spark):
                _record(subject, spark, packed / "tables" / subject.name)
            _record_files(work / "files", packed / "parquet", spark)
        _pack(packed)


def _subjects(work: Path, spark: SparkReader) -> Iterator[Subject]:
    for name, recipe in {**spark_tables.TABLES, **spark_histories.TABLES}.items():
        folder = work / f"delta-spark__{name}" / "table"
        _follow(recipe, folder, spark)
        yield Subject(
            name=folder.parent.name,
            what=recipe.what,
            folder=folder,
            commits=keep_commits(folder),
            writer=SPARK,
            changes=recipe.changes,
            variants=recipe.variants,
            misread=recipe.misread,
        )
    for name, made in deltalake_tables.TABLES.items():
        folder = work / f"deltalake__{name}" / "table"
        folder.parent.mkdir()
        made.make(folder)
        yield Subject(
            name=folder.parent.name,
            what=made.what,
            folder=folder,
            commits=keep_commits(folder),
            writer=DELTALAKE,
            changes=made.changes,
        )


def _follow(recipe: Recipe, folder: Path, spark: SparkReader) -> None:
    folder.parent.mkdir()
    for step in recipe.steps:
        if step == CHECKPOINT:
            spark.checkpoint(folder)
        elif step == AGE:
            _age(folder)
        else:
            spark.reference.sql(step, folder)
        keep_commits(folder)


def _age(folder: Path) -> None:
    for path in (folder / "_delta_log").iterdir():
        moment = (datetime.now(UTC) - timedelta(days=10)).timestamp()
        utime(path, (moment, moment))


def _record(subject: Subject, spark: SparkReader, place: Path) -> None:
    said = expectations(subject, spark)
    print(subject.name, said["oracle"]["content"], flush=True)  # noqa: T201 (for who waits)
    # Hadoop's own checksums belong to the file system, not to the table.
    hidden = shutil.ignore_patterns(".*.crc")
    shutil.copytree(subject.folder, place / "table", ignore=hidden)
    _write_json(place / "expected.json", said)


def _record_files(work: Path, place: Path, spark: SparkReader) -> None:
    (place / "bad").mkdir(parents=True)
    work.mkdir()
    for name, write in parquet_files.GOOD.items():
        write(work / f"{name}.parquet")
    for name, query in parquet_files.SPARK.items():
        spark.write_parquet(query, work / f"{name}.parquet")
    for path in sorted(work.glob("*.parquet")):
        shutil.copy(path, place)
        said = parquet_expectations(path, spark.parquet_schema(path))
        _write_json(place / f"{path.stem}{SUFFIX}", said)
    good = work / "pyarrow_plain.parquet"
    for name, (kind, data) in parquet_files.bad_files(good).items():
        path = place / "bad" / name
        path.write_bytes(data)
        _write_json(path.with_name(name + SUFFIX), bad_expectations(path, kind))


def _write_json(path: Path, said: object) -> None:
    text = json.dumps(said, indent=1, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8")


def _pack(folder: Path) -> None:
    with (
        lzma.open(ARCHIVE, "wb", preset=9 | lzma.PRESET_EXTREME) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path in sorted(folder.rglob("*")):
            member = archive.gettarinfo(path, str(path.relative_to(folder)))
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mtime = int(member.mtime)
            if path.is_file():
                with path.open("rb") as file:
                    archive.addfile(member, file)
            else:
                archive.addfile(member)
    size = ARCHIVE.stat().st_size
    if size > MAX_BYTES:
        sys.exit(f"The archive has {size} bytes, and may have {MAX_BYTES}.")


if __name__ == "__main__":
    try:
        main()
    except pytest.skip.Exception as missing:  # by who fetches what it runs
        sys.exit(str(missing))
