"""The two writers as readers: the rows of a version, and what else they say."""

import json
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import deltalake
import pyarrow as pa
from deltalake.exceptions import DeltaError

from tests.support.golden.canonical import content_sha256, lines
from tests.support.peers.reference_implementation import Reference, RefusedError

DELTALAKE: Final = f"deltalake {deltalake.__version__}"
_WRITE: Final = """
import pyarrow as pa
with pa.OSFile({place!r}, "wb") as _file:
    with pa.ipc.new_file(_file, rows.schema) as _writer:
        _writer.write_table(rows)
found = spark.range(1)
"""
_READ: Final = """
frame = spark.read.format("delta").options(**{options!r}).load({folder!r})
names = [
    "`" + field.name.replace("`", "``") + "`"
    for field in frame.schema
    if "variant" not in field.dataType.simpleString()
]
rows = frame.select(*names).toArrow()
rows = rows.replace_schema_metadata({{"schema": frame.schema.json()}})
"""
_QUERY: Final = """
rows = spark.sql({statement!r}).selectExpr(*{columns!r}).toArrow()
"""
_SCHEMA: Final = """
frame = spark.read.parquet({path!r})
rows = spark.range(1).toArrow()
rows = rows.replace_schema_metadata({{"schema": frame.schema.json()}})
"""
_PARQUET: Final = """
spark.sql({query!r}).coalesce(1).write.parquet({folder!r})
found = spark.range(1)
"""
_LOG: Final = """
_deltas = spark._jvm.org.apache.spark.sql.delta.DeltaLog
_deltas.clearCache()
_log = _deltas.forTable(spark._jsparkSession, {folder!r})
"""
_CHECKPOINT: Final = """
_none = spark._jvm.scala.Option.empty()
_log.checkpoint(_log.update(False, _none, _none), _none)
found = spark.range(1)
"""
_TIMES: Final = """
import pyarrow as pa
_none = spark._jvm.scala.Option.empty()
_found = []
for _ms in {times!r}:
    _time = spark._jvm.java.sql.Timestamp(_ms)
    try:
        _commit = _log.history().getActiveCommitAtTime(_time, _none, True, True, False)
        _found.append(_commit.version())
    except Exception:
        _found.append(-1)
rows = pa.table({{"version": pa.array(_found, pa.int64())}})
"""


class UnreadableError(Exception):
    """A version that a writer does not read."""


class SparkReader:
    """The reference implementation.

    Args:
        reference: Its process.
        folder: Where it may write rows.
    """

    def __init__(self, reference: Reference, folder: Path) -> None:
        self.reference = reference
        self._place = folder / "rows.arrow"

    def rows(self, folder: Path, version: int) -> pa.Table:
        """Return the rows of a version, but for columns of variants."""
        return self._read(folder, versionAsOf=str(version))

    def changes(self, folder: Path, first: int, last: int) -> pa.Table:
        """Return the rows of the change data feed of versions, both included."""
        return self._read(
            folder,
            readChangeFeed="true",
            startingVersion=str(first),
            endingVersion=str(last),
        )

    def variants(self, folder: Path, path: str) -> dict[str, str | None]:
        """Return the texts of the variants of a column, by the row's `id`."""
        columns = ("id", f"to_json({path}) AS text")
        rows = self.query(f"TABLE delta.`{folder}`", *columns)
        return {str(row["id"]): row["text"] for row in rows.to_pylist()}

    def history(self, folder: Path) -> list[dict[str, Any]]:
        """Return version, operation and time of each commit, the newest first."""
        self._run(_LOG.format(folder=str(folder)) + "found = spark.range(1)")
        columns = ("version", "operation", "unix_millis(timestamp) AS spark_timestamp")
        found: list[dict[str, Any]] = self.query(
            f"DESCRIBE HISTORY delta.`{folder}`", *columns
        ).to_pylist()
        return found

    def versions_at(self, folder: Path, times_ms: list[int]) -> list[int]:
        """Return the version of each time, -1 for one before the first."""
        code = _LOG.format(folder=str(folder)) + _TIMES.format(times=times_ms)
        found: list[int] = self._fetch(code)["version"].to_pylist()
        return found

    def parquet_schema(self, path: Path) -> Mapping[str, Any] | None:
        """Return the schema of a Parquet file; None where Spark has none."""
        try:
            return schema_of(self._fetch(_SCHEMA.format(path=str(path))))
        except RefusedError:
            return None

    def write_parquet(self, query: str, path: Path) -> None:
        """Write what a query answers as one Parquet file."""
        folder = path.with_suffix(".parts")
        self._run(_PARQUET.format(query=query, folder=str(folder)))
        next(folder.glob("*.parquet")).rename(path)

    def checkpoint(self, folder: Path) -> None:
        """Write a checkpoint of the newest version."""
        self._run(_LOG.format(folder=str(folder)) + _CHECKPOINT)

    def query(self, statement: str, *columns: str) -> pa.Table:
        """Return columns of what a statement answers."""
        return self._fetch(_QUERY.format(statement=statement, columns=columns))

    def _read(self, folder: Path, **options: str) -> pa.Table:
        try:
            return self._fetch(_READ.format(options=options, folder=str(folder)))
        except RefusedError as error:
            raise UnreadableError(str(error)) from error

    def _fetch(self, code: str) -> pa.Table:
        self._run(code + _WRITE.format(place=str(self._place)))
        with pa.OSFile(str(self._place), "rb") as file:
            return pa.ipc.open_file(file).read_all()

    def _run(self, code: str) -> None:
        self.reference.count(code)


def deltalake_rows(folder: Path, version: int) -> pa.Table:
    """Return the rows of a version."""
    try:
        return pa.table(deltalake.DeltaTable(str(folder), version=version).scan())
    except (DeltaError, OSError, ValueError, pa.ArrowException) as error:
        raise UnreadableError(str(error)) from error


def deltalake_statistics(folder: Path) -> list[dict[str, Any]] | None:
    """Return what is known of each live file; None where deltalake reads none."""
    try:
        actions = deltalake.DeltaTable(str(folder)).get_add_actions(flatten=False)
    except (DeltaError, OSError, ValueError):
        return None
    found = []
    for row in pa.table(actions).to_pylist():
        kept = {
            name: _without_nulls(row.get(name) or {})
            for name in ("null_count", "min", "max")
        }
        known = {name: values for name, values in kept.items() if values}
        found.append(
            {"path": row["path"], "num_records": row.get("num_records"), **known}
        )
    plain: list[dict[str, Any]] = json.loads(json.dumps(found, default=_text))
    return plain


def digest(schema_string: str, rows: pa.Table) -> str:
    """Return the hash of rows."""
    return content_sha256(lines(schema_string, rows))


def missing_files(folder: Path, paths: list[str]) -> list[str]:
    """Return the paths whose files are gone."""
    return [path for path in paths if not (folder / unquote(path)).exists()]


def schema_of(rows: pa.Table) -> Mapping[str, Any]:
    """Return the schema that Spark had for rows."""
    found: Mapping[str, Any] = json.loads((rows.schema.metadata or {})[b"schema"])
    return found


def _without_nulls(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _without_nulls(value) if isinstance(value, dict) else value
        for name, value in values.items()
        if value is not None and not isinstance(value, bytes | list)
    }


def _text(value: object) -> str:
    if isinstance(value, date | datetime):
        return value.isoformat()
    assert isinstance(value, Decimal), value
    return str(value)
