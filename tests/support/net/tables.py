"""A table of a cell: its properties, its first rows, and their model."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa

from deltaweb.delta.protocol.schema import (
    PrimitiveType,
    StructField,
    StructType,
    schema_of_arrow,
)
from deltaweb.table import DeltaTable
from tests.support.net.model import Row, RowModel
from tests.support.net.shapes import PARTITIONS, SHAPES, Shape, turned, turned_value

MODE = "delta.columnMapping.mode"
ONLY_SPARK = "hash(id) = hash(id)"
"""True of every row, and evaluated by no process of ours."""
MAPPINGS = {
    "none": ("x", "y"),
    "name": ("x", "y"),
    "id": ("x", "y"),
    "later": ("x", "y"),
    "renamed": ("x_before", "y_before"),
    "exchanged": ("y", "x"),
}
"""What the fields x and y are called when the table is made."""
CHECKS = {
    "of a number": "id < 1000",
    "of a time": "ts IS NULL OR ts < TIMESTAMP '2100-01-01 00:00:00'",
    "only Spark": ONLY_SPARK,
}
GENERATED = {
    "of a number": ("long", "id * 2"),
    "of a time": ("date", "CAST(ts AS DATE)"),
    "of a struct": ("integer", "v.x"),
}
FEATURES = {
    "vectors": {"delta.enableDeletionVectors": "true"},
    "feed": {"delta.enableChangeDataFeed": "true"},
    "widened": {"delta.enableTypeWidening": "true"},
    "clustered": {
        "delta.feature.clustering": "supported",
        "delta.feature.domainMetadata": "supported",
    },
}
"""The properties of each, by its name in a cell."""


@dataclass(frozen=True)
class Cell:
    """One combination."""

    verb: str
    engine: str
    shape: str
    partition: str
    mapping: str
    vectors: bool
    feed: bool
    widened: bool
    generated: str
    check: str
    clustered: bool
    zone: str
    ansi: bool

    @classmethod
    def of(cls, levels: Mapping[str, Any]) -> "Cell":
        verb, engine = levels["deed"]
        others = {name: level for name, level in levels.items() if name != "deed"}
        return cls(verb=verb, engine=engine, **others)

    def __str__(self) -> str:
        on = [name for name in FEATURES if getattr(self, name)]
        parts = (self.verb, self.engine, self.shape, self.partition, self.mapping)
        more = (self.generated, self.check, self.zone, "ansi" if self.ansi else "old")
        return ",".join((*parts, *on, *more)).replace("/", "-")


class NetTable:
    """A table, and the rows that it should have."""

    def __init__(self, folder: Path, cell: Cell) -> None:
        self.cell = cell
        self.shape: Shape = SHAPES[cell.shape]
        self.first_rows: list[Row] = []
        self.first_version = 0
        self.model = RowModel(self._complete)
        self._zone = ZoneInfo("UTC")
        self.table = self._made(folder)
        self._fill()

    @property
    def columns(self) -> list[str]:
        """The columns that a writer gives values of."""
        return ["id", "s", "ts", "w", "v", *(["p"] if self._partition else [])]

    def row(self, number: int, *, seed: int | None = None) -> Row:
        """Return the row of an id; its other values are those of a seed."""
        n = number if seed is None else seed
        ts = None if n % 3 == 0 else datetime(2024, 1, 1 + n, 12, tzinfo=UTC)
        row = {
            "id": number,
            "s": None if n % 4 == 0 else f"s{n}",
            "ts": ts,
            "w": None if n % 7 == 0 else n,
            "v": self.shape.value(n, "x", "y"),
        }
        if self._partition is not None:
            values = self._partition[1]
            row["p"] = values[n % len(values)]
        return row

    def source(self, rows: Iterable[Row]) -> pa.Table:
        """Return rows whose columns and fields are in another order and wider."""
        kinds = self._kinds(*MAPPINGS["none"])
        schema = pa.schema(
            [(name, turned(kinds.field(name).type)) for name in self.columns[::-1]]
        )
        values = [{**row, "v": turned_value(row["v"])} for row in rows]
        return pa.Table.from_pylist(values, schema)

    def local_time(self, text: str) -> datetime:
        """Return the instant of a time of the clock of the session."""
        return datetime.fromisoformat(text).replace(tzinfo=self._zone)

    def begin(self) -> None:
        """Have changes from now on evaluated by the zone of their engine."""
        here = self.cell.engine == "process"
        self._zone = ZoneInfo("UTC" if here else self.cell.zone)

    def commit(self, *actions: Mapping[str, Any]) -> None:
        """Write a commit as another writer does."""
        version = self.table.latest_version() + 1
        path = Path(self.table.root) / f"_delta_log/{version:020}.json"
        path.write_text("".join(f"{json.dumps(action)}\n" for action in actions))

    @property
    def _partition(self) -> tuple[pa.DataType, Sequence[Any]] | None:
        return PARTITIONS.get(self.cell.partition)

    def _kinds(self, x: str, y: str) -> pa.Schema:
        fields = [
            pa.field("id", pa.int64(), nullable=False),
            pa.field("s", pa.string()),
            pa.field("ts", pa.timestamp("us", "UTC")),
            pa.field("w", pa.int32()),
            pa.field("v", self.shape.kind(x, y)),
        ]
        if self._partition is not None:
            fields.append(pa.field("p", self._partition[0]))
        return pa.schema(fields)

    def _made(self, folder: Path) -> DeltaTable:
        cell, properties = self.cell, {}
        for name, of_it in FEATURES.items():
            properties.update(of_it if getattr(cell, name) else {})
        if cell.mapping in {"name", "id"}:
            properties[MODE] = cell.mapping
        elif cell.mapping == "renamed":
            properties[MODE] = "name"
        schema = schema_of_arrow(self._kinds(*MAPPINGS[cell.mapping]))
        if cell.generated in GENERATED:
            kind, sql = GENERATED[cell.generated]
            made = {"delta.generationExpression": sql}
            column = StructField("g", PrimitiveType(kind), metadata=made)
            schema = StructType((*schema.fields, column))
        return DeltaTable.create(
            str(folder),
            schema,
            partition_by=["p"] if self._partition else [],
            properties=properties,
        )

    def _fill(self) -> None:
        """Append rows before and after the schema changes, and remove one."""
        table, cell = self.table, self.cell
        if cell.clustered:
            self._cluster()
        x, y = MAPPINGS[cell.mapping]
        rows = [self.row(number) for number in (1, 2, 3)]
        stored = [{**r, "v": self.shape.value(r["id"], x, y)} for r in rows]
        table.append(pa.Table.from_pylist(stored, self._kinds(x, y)))
        self.model.append(rows)
        if cell.mapping in {"later", "exchanged"}:
            table.set_properties({MODE: "name"}, upgrade=True)
        if x != "x":
            self._rename({x: "x", y: "y"})
        if cell.widened:
            table.widen_column("w", "BIGINT")
            table.widen_column(self.shape.x, "BIGINT")
        if cell.check in CHECKS:
            self._check()
        self.first_rows = [*self.model.rows]
        self.first_version = table.latest_version()
        if cell.check == "only Spark":
            return
        more = [self.row(4), self.row(5)]
        if cell.widened:
            more[0]["w"] = 1 << 40
        table.append(self.source(more))
        self.model.append(more)
        table.delete("id = 3")
        self.model.delete(lambda row: row["id"] == 3)

    def _cluster(self) -> None:
        (column,) = [c for c in self.table.snapshot().schema.fields if c.name == "id"]
        paths = json.dumps({"clusteringColumns": [[column.stored_name]]})
        domain = {"domain": "delta.clustering", "configuration": paths}
        self.commit({"domainMetadata": {**domain, "removed": False}})

    def _rename(self, names: Mapping[str, str]) -> None:
        metadata = self._metadata()
        schema = json.loads(metadata["schemaString"])
        _rename_fields(schema, names)
        self.commit({"metaData": {**metadata, "schemaString": json.dumps(schema)}})

    def _check(self) -> None:
        sql = CHECKS[self.cell.check]
        if self.cell.check != "only Spark":
            self.table.add_constraint("kept", sql, upgrade=True)
            return
        metadata, protocol = self._metadata(), self._newest("protocol")
        metadata["configuration"]["delta.constraints.kept"] = sql
        if protocol["minWriterVersion"] == 7:
            known = {*protocol["writerFeatures"], "checkConstraints"}
            protocol["writerFeatures"] = sorted(known)
        else:
            protocol["minWriterVersion"] = max(protocol["minWriterVersion"], 3)
        self.commit({"protocol": protocol}, {"metaData": metadata})

    def _metadata(self) -> dict[str, Any]:
        return self._newest("metaData")

    def _newest(self, kind: str) -> dict[str, Any]:
        for version in range(self.table.latest_version(), -1, -1):
            for action in self.table.read_commit(version):
                if kind in action:
                    found: dict[str, Any] = action[kind]
                    return found
        raise AssertionError(kind)

    def _complete(self, row: Row) -> Row:
        made: dict[str, Callable[[], Any]] = {
            "of a number": lambda: row["id"] * 2,
            "of a time": lambda: row["ts"] and row["ts"].astimezone(self._zone).date(),
            "of a struct": lambda: row["v"] and row["v"]["x"],
        }
        known = made.get(self.cell.generated)
        return {**row, "g": known()} if known else row


def _rename_fields(node: Any, names: Mapping[str, str]) -> None:  # noqa: ANN401 (JSON)
    match node:
        case dict():
            if node.get("name") in names:
                node["name"] = names[node["name"]]
            for part in node.values():
                _rename_fields(part, names)
        case list():
            for part in node:
                _rename_fields(part, names)
