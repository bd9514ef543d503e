"""What a table has to show after a change: its rows, statistics and changes."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.table import DeltaTable
from tests.support.net.model import Change, Row, in_order, plain, without
from tests.support.peers.reference_implementation import Reference

CUT = 32
"""Letters of a text that a bound has."""


def rows_of(table: DeltaTable) -> list[Row]:
    """Return the rows of the newest version."""
    return in_order(table.snapshot().read().to_pylist())


def changes_of(table: DeltaTable, version: int) -> list[Change]:
    """Return what the change data feed has of a version."""
    rows = table.changes(version, version).read_all()
    own = ("_change_type", "_commit_version", "_commit_timestamp")
    return [
        (row["_change_type"], {k: v for k, v in row.items() if k not in own})
        for row in rows.to_pylist()
    ]


def in_change_order(changes: Iterable[Change]) -> list[Change]:
    """Return changes in an order that does not depend on how they are stored."""
    rows = in_order({"change": kind, "row": row} for kind, row in changes)
    return [(row["change"], row["row"]) for row in rows]


def without_kept(changes: Iterable[Change]) -> list[Change]:
    """Return changes but for rows that are deleted and inserted again."""
    kinds: dict[str, list[Row]] = {"delete": [], "insert": []}
    for kind, row in changes:
        kinds[kind].append(row)
    deleted, inserted = kinds.values()
    return [
        *(("delete", row) for row in without(deleted, inserted)),
        *(("insert", row) for row in without(inserted, deleted)),
    ]


def wrong_statistics(table: DeltaTable) -> list[str]:
    """Return what the log says of its files that they do not hold."""
    files = table.snapshot().files.to_pylist()
    return [
        f"{file['path']}: {fault}" for file in files for fault in _faults(table, file)
    ]


def _faults(table: DeltaTable, file: Mapping[str, Any]) -> Iterator[str]:
    added = _added(table, file["path"])
    said = json.loads(added["stats"])
    path = Path(table.root) / unquote(added["path"])
    held_rows = pq.ParquetFile(path).read()
    rows = held_rows.to_pylist()
    if said["numRecords"] != len(rows):
        yield f"{len(rows)} rows, and numRecords is {said['numRecords']}"
    for leaf, values in _leaves(pa.struct(held_rows.schema), rows).items():
        low, high = _at(said["minValues"], leaf), _at(said["maxValues"], leaf)
        held = [value for value in values if value is not None]
        count = _at(said["nullCount"], leaf)
        if count != len(values) - len(held):
            yield f"{leaf}: nullCount {count} of {values}"
        if not held or isinstance(held[0], bool | list):
            continue
        if None in (low, high) or not _covers(low, high, held):
            yield f"{leaf}: {low} to {high} for {held}"


def _added(table: DeltaTable, path: str) -> dict[str, Any]:
    for version in range(table.latest_version(), -1, -1):
        for action in table.read_commit(version):
            if action.get("add", {}).get("path") == path:
                found: dict[str, Any] = action["add"]
                return found
    raise AssertionError(path)


def _leaves(
    columns: pa.StructType, rows: list[Row]
) -> dict[tuple[str, ...], list[Any]]:
    """Return the values of each column, and of each field of a struct, as stored."""
    found: dict[tuple[str, ...], list[Any]] = {}
    for column in columns:
        values = [row[column.name] for row in rows]
        if not pa.types.is_struct(column.type):
            found[(column.name,)] = values
            continue
        nothing = {field.name: None for field in column.type}
        inside = [nothing if value is None else value for value in values]
        for path, parts in _leaves(column.type, inside).items():
            found[(column.name, *path)] = parts
    return found


def _at(said: Any, path: tuple[str, ...]) -> Any:  # noqa: ANN401 (JSON)
    for name in path:
        said = said.get(name) if isinstance(said, dict) else None
    return said


def _covers(low: Any, high: Any, held: list[Any]) -> bool:  # noqa: ANN401 (JSON)
    values = [plain(value) for value in held]
    if type(values[0]) is date:
        values = [value.isoformat() for value in values]
    if isinstance(values[0], datetime):
        first, last = datetime.fromisoformat(low), datetime.fromisoformat(high)
        return first <= min(values) and max(values) <= last + timedelta(milliseconds=1)
    if isinstance(values[0], str):
        return low <= min(values) and max(values)[:CUT] <= high
    return low <= min(values) and max(values) <= high


def rows_of_reference(reference: Reference, table: DeltaTable) -> list[list[Any]]:
    """Return the rows that the reference implementation reads; see `as_read_there`."""
    columns = ", ".join(
        name if name in {"v", "more"} else f"CAST({name} AS STRING)"
        for name in table.snapshot().schema.names
    )
    rows = reference.sql(f"SELECT {columns} FROM {{t}}", Path(table.root))  # noqa: S608 (ours)
    found = [[[] if value == {} else value for value in row] for row in rows]
    return sorted(found, key=str)


def as_read_there(table: DeltaTable, rows: Iterable[Row]) -> list[list[Any]]:
    """Return rows with nested values as lists, and others as the texts of Spark."""
    names = table.snapshot().schema.names
    found = [
        [
            _listed(row[name]) if name in {"v", "more"} else _text(row[name])
            for name in names
        ]
        for row in map(plain, rows)
    ]
    return sorted(found, key=str)


def _listed(value: Any) -> Any:  # noqa: ANN401 (any value of a row)
    match value:
        case dict():
            return [_listed(part) for part in value.values()]
        case [tuple(), *_]:
            return {key: _listed(part) for key, part in value}
        case list():
            return [_listed(part) for part in value]
        case _:
            return value


def _text(value: Any) -> str | None:  # noqa: ANN401 (as above)
    match value:
        case None:
            return None
        case bool():
            return str(value).lower()
        case datetime():
            return value.strftime("%Y-%m-%d %H:%M:%S")
        case _:
            return str(value)
