"""Every change of tables whose structs are null and have fields that are NOT NULL.

No cell of the table of types and changes ends with an error of a library.
"""

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from deltaweb.delta.feed import FeedRequest
from deltaweb.delta.feed.changed_rows import FeedScan
from deltaweb.delta.protocol.schema import StructType
from deltaweb.storage.place import TablePlace
from deltaweb.table import DeltaTable
from deltaweb.writer.excerpts import EXCERPT, ChangeExcerpts, Excerpts, numbered
from tests.support import matrix, pairwise


def required(name: str, kind: pa.DataType) -> pa.Field:
    return pa.field(name, kind, nullable=False)


LEAVES: dict[str, tuple[pa.DataType, Any]] = {
    "string": (pa.string(), "a"),
    "float": (pa.float32(), float("nan")),
    "date": (pa.date32(), date(1, 1, 1)),
    "timestamp": (pa.timestamp("us", "UTC"), datetime(9999, 12, 31, tzinfo=UTC)),
    "no zone": (pa.timestamp("us"), datetime(2024, 3, 10, 2, 30)),  # noqa: DTZ001  # has none
    "decimal": (pa.decimal128(38, 10), Decimal("-1.5")),
    "binary": (pa.binary(), b"\xff\x00"),
    "boolean": (pa.bool_(), True),
    "tiny": (pa.int8(), -1),
    "struct": (pa.struct([required("z", pa.int64())]), {"z": 1}),
}
Nest = Callable[[pa.DataType, Any], tuple[pa.DataType, list[Any]]]
NESTS: dict[str, Nest] = {
    "field": lambda k, v: (k, [v, None, None, v]),
    "element": lambda k, v: (pa.list_(k), [[v, None], None, [None], []]),
    "map value": lambda k, v: (
        pa.map_(pa.string(), k),
        [[("k", v), ("n", None)], None, [("n", None)], []],
    ),
    "map key": lambda k, v: (pa.map_(k, k), [[(v, None)], None, [(v, v)], []]),
    "struct": lambda k, v: (
        pa.struct([("in", k), ("n", pa.int32())]),
        [{"in": v, "n": 1}, None, {"in": None, "n": 2}, None],
    ),
    "NOT NULL struct": lambda k, v: (
        pa.struct([required("in", k)]),
        [{"in": v}, None, None, {"in": v}],
    ),
    "NOT NULL elements": lambda k, v: (
        pa.list_(pa.list_(required("element", k))),
        [[[v], None], None, [[]], []],
    ),
    "NOT NULL map": lambda k, v: (
        pa.struct([required("m", pa.map_(pa.string(), required("value", k)))]),
        [{"m": [("k", v)]}, None, {"m": []}, None],
    ),
    "map in a map": lambda k, v: (
        pa.map_(pa.string(), pa.struct([required("m", pa.map_(pa.string(), k))])),
        [[("k", {"m": [("n", None), ("k", v)]})], None, [("n", None)], []],
    ),
}
PROPERTIES = {
    "plain": {},
    "feed": {"delta.enableChangeDataFeed": "true"},
    "marks": {"delta.enableDeletionVectors": "true"},
    "mapped": {"delta.columnMapping.mode": "name"},
}


class Made:
    """A table with two files of two rows each.

    Attributes:
        values: Of the column `v`, by `id` from 1.
    """

    def __init__(
        self, place: Path, leaf: str, nest: str, properties: dict[str, str]
    ) -> None:
        kind, value = LEAVES[leaf]
        inner = pa.struct([required("x", kind)])
        self.kind, self.values = NESTS[nest](inner, {"x": value})
        schema = self.rows(()).schema
        self.table = DeltaTable.create(str(place / "t"), schema, properties=properties)
        for ids in ((1, 2), (3, 4)):
            self.table.append(self.rows(ids))

    def rows(self, ids: tuple[int, ...], *, turned: bool = False) -> pa.Table:
        values = [self.values[(n - 1) % 4] for n in ids]
        if turned:
            values.reverse()
        columns = [pa.array(ids, pa.int64()), pa.array([1] * len(ids), pa.int64())]
        columns.append(pa.array(values, self.kind))
        return pa.table(columns, names=["id", "n", "v"])

    def found(self) -> list[str]:
        rows = self.table.snapshot().read().sort_by("id")
        assert rows.validate(full=True) is None
        return [repr(value) for value in rows["v"].to_pylist()]


ALL = (1, 2, 3, 4)


def replaced(made: Made) -> None:
    made.table.overwrite(made.rows((2, 3)), where="id IN (2, 3)")


def deleted(made: Made) -> None:
    made.table.append(made.rows((5, 6, 7, 8)))
    made.table.delete("id IN (5, 8)")
    made.table.delete("id > 4 AND v IS NULL")
    made.table.delete("id > 4")


def updated(made: Made) -> None:
    made.table.plan_update({"n": "n + 1"}, "id = 1")
    made.table.update({"n": "n + 1"}, "id = 1")
    made.table.update({"v": "v"}, "id IN (2, 4)")
    made.table.update({"n": "n + 1"}, "v IS NOT NULL")


def merged(made: Made) -> None:
    turned = made.rows(ALL, turned=True)
    for source in (turned, made.rows(ALL)):
        merge = made.table.merge(source, on="t.id = s.id")
        merge.when_matched_update().when_not_matched_insert().execute()


def merged_in_part(made: Made) -> None:
    source = made.rows((2, 9))
    merge = made.table.merge(source, on="t.id = s.id").when_matched_update({"v": "s.v"})
    merge = merge.when_not_matched_insert()
    merge.when_not_matched_by_source_update({"n": "0"}, "t.id = 1").execute()
    made.table.merge(
        made.rows((9, 9)), on="t.id = s.id"
    ).when_matched_delete().execute()


def restored(made: Made) -> None:
    made.table.delete("id = 1")
    made.table.restore(2)


def redefined(made: Made) -> None:
    made.table.add_columns("more STRUCT<a: INT NOT NULL>")
    made.table.update({"n": "3"}, "id = 1")
    made.table.optimize()


def converted(made: Made) -> None:
    place = Path(made.table.root).with_name("converted")
    place.mkdir()
    pq.write_table(made.rows(ALL), place / "a.parquet")
    made.table = DeltaTable.convert(str(place))
    updated(made)
    merged(made)


def compared(made: Made) -> None:
    made.table.create_checkpoint()
    updated(made)
    made.table.compare(1, made.table.latest_version())
    made.table.to_pyarrow_dataset().to_table()


def prepared(made: Made) -> None:
    """Write what a share in part shows of the rows and of their changes."""
    updated(made)
    place = TablePlace(location=made.table.root)
    target = TablePlace(location=f"{made.table.root}-prepared")
    names = ("id", "v")
    snapshot = made.table.snapshot()
    seen = StructType(tuple(f for f in snapshot.schema.fields if f.name in names))
    rows = Excerpts(
        place=place,
        schema=snapshot.schema,
        partition_columns=(),
        condition=None,
        seen=seen,
        target=target,
    )
    assert num_written(rows, snapshot.files) == len(ALL)
    if "delta.enableChangeDataFeed" not in snapshot.metadata.configuration:
        return
    scan = FeedScan(place.open(), FeedRequest(versions=(1, 1), columns=names))
    changes = ChangeExcerpts(
        place=place, rows=scan.rows, seen=seen, partition_columns=(), target=target
    )
    assert num_written(changes, numbered([*scan.files(with_sizes=True)])) == 2


def num_written(excerpts: Excerpts | ChangeExcerpts, files: pa.Table) -> int:
    paths = pa.array([f"{uuid4()}.parquet" for _ in range(files.num_rows)])
    written = excerpts.write(files.append_column(EXCERPT, paths))
    return sum(file.num_rows for _, file in written if file is not None)


CHANGES = {
    "append": lambda made: made.table.append(made.rows(())),
    "overwrite": lambda made: made.table.overwrite(made.rows(ALL)),
    "replace where": replaced,
    "delete": deleted,
    "update": updated,
    "merge": merged,
    "merge in part": merged_in_part,
    "optimize": lambda made: made.table.optimize(),
    "restore": restored,
    "new column": redefined,
    "convert": converted,
    "compare": compared,
    "prepare": prepared,
}
AXES = {
    "change": [*CHANGES],
    "nest": [*NESTS],
    "leaf": [*LEAVES],
    "properties": [*PROPERTIES],
}


def excluded(pair: dict[str, Any]) -> bool:
    """Return whether a dataset of pyarrow is refused."""
    return pair.get("change") == "compare" and pair.get("properties") in {
        "marks",
        "mapped",
    }


CELLS = [tuple(cell.values()) for cell in pairwise(AXES, excluded=excluded)]


@matrix("change, nest, leaf, properties", CELLS, often=CELLS)
def test_a_change_keeps_the_values(tmp_path, change, nest, leaf, properties):
    made = Made(tmp_path, leaf, nest, PROPERTIES[properties])
    before = made.found()

    CHANGES[change](made)

    assert made.found() == before
    if properties == "feed" and change != "convert":
        assert made.table.changes(1).read_all().num_rows >= 4
