"""Tables that two engines change, and what both have to say of it."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from deltaweb.table import DeltaTable
from tests.support.tables.table_builder import TableBuilder

SCHEMA = pa.schema([("n", pa.int64()), ("s", pa.string()), ("p", pa.string())])
FEED = {"delta.enableChangeDataFeed": "true"}
MARKS = {"delta.enableDeletionVectors": "true"}
MAPPED = {"delta.columnMapping.mode": "name"}
ONLY_SPARK = "hash(n) = hash(n)"
"""True of every row, and evaluated by no process of ours."""

Make = Callable[..., DeltaTable]
Numbers = list[int]


def make_table(location: Path, **properties: str) -> DeltaTable:
    """Twelve rows in three files of a partition each."""
    rows = {"n": range(12), "s": [f"s{n}" for n in range(12)], "p": list("xyz" * 4)}
    builder = TableBuilder(location).partitioned_by("p").properties(properties)
    return builder.rows(pa.table(rows, SCHEMA)).build()


def write_rule(table: DeltaTable, sql: str) -> None:
    """Commit a rule as a writer does that evaluates it."""
    version = table.latest_version()
    first = table.read_commit(0)
    metadata = next(one for one in first if "metaData" in one)
    metadata["metaData"]["configuration"]["delta.constraints.told"] = sql
    protocol = {"protocol": {"minReaderVersion": 1, "minWriterVersion": 3}}
    path = Path(table.root) / f"_delta_log/{version + 1:020}.json"
    path.write_text(f"{json.dumps(protocol)}\n{json.dumps(metadata)}\n")


def numbers(table: DeltaTable) -> Numbers:
    return sorted(table.snapshot().read(["n"])["n"].to_pylist())


def rows_of(table: DeltaTable) -> list[dict[str, Any]]:
    return sorted(table.snapshot().read().to_pylist(), key=str)


def told(table: DeltaTable) -> list[tuple[Any, ...]]:
    """What the change data feed says of the newest version."""
    newest = table.latest_version()
    rows = table.changes(newest, newest).read_all().to_pylist()
    return sorted((row["_change_type"], row["n"], row["s"], row["p"]) for row in rows)


def facts_of(table: DeltaTable) -> dict[str, Any]:
    """What two engines have to say alike of the newest commit."""
    actions = table.read_commit(table.latest_version())
    names = {c.stored_name: c.name for c in table.snapshot().schema.fields}
    facts: dict[str, list[str]] = {}
    for action in actions:
        (kind,) = action
        fact = _fact(kind, action[kind])
        for stored, name in names.items():
            fact = fact.replace(f'"{stored}"', f'"{name}"')
        in_order = json.dumps(json.loads(fact), sort_keys=True)
        facts.setdefault(kind, []).append(in_order)
    return {kind: sorted(found) for kind, found in facts.items()}


def _fact(kind: str, said: dict[str, Any]) -> str:
    if kind == "commitInfo":
        metrics = dict(said["operationMetrics"])
        # A task has a file of changes of its own, so their number is its engine's.
        for part in ("Bytes", "Time", "ChangeFiles"):
            metrics = {n: count for n, count in metrics.items() if part not in n}
        kept = [said["operation"], said["operationParameters"], metrics]
        return json.dumps([*kept, said["isBlindAppend"]], sort_keys=True)
    vector = said.get("deletionVector")
    file = {
        "values": said["partitionValues"],
        "change": said["dataChange"],
        "stats": json.loads(said["stats"]) if said.get("stats") else None,
        "deleted": vector and (vector["cardinality"], vector["sizeInBytes"]),
    }
    return json.dumps(file, sort_keys=True)


def unreferenced(table: DeltaTable) -> list[str]:
    """Data files that no version names."""
    named = {
        action["add"]["path"]
        for version in range(table.latest_version() + 1)
        for action in table.read_commit(version)
        if "add" in action
    }
    return [path for path in _data_files(table) if path not in named]


def _data_files(table: DeltaTable) -> Iterator[str]:
    root = Path(table.root)
    for path in root.rglob("*.parquet"):
        name = path.relative_to(root).as_posix()
        if not name.startswith("_delta_log"):
            yield name
