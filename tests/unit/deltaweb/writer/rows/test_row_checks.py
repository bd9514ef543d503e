"""Values that must not be null, at every depth."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from deltaweb.delta.writing.errors import ConstraintViolatedError
from deltaweb.table import DeltaTable
from tests.support import cases
from tests.support.tables.table_builder import TableBuilder


def required(kind: pa.DataType) -> pa.Field:
    return pa.field("value", kind, nullable=False)


CODE = pa.struct([pa.field("code", pa.string(), nullable=False)])
TAGS = pa.list_(required(pa.int64()))
TAGS_AND_ID = pa.schema([("id", pa.int64()), ("v", TAGS)])
CASES: dict[str, tuple[pa.DataType, Any, Any, str]] = {
    "element": (TAGS, [1], [1, None], "v.element"),
    "map value": (
        pa.map_(pa.string(), required(pa.int64())),
        [("k", 1)],
        [("k", 1), ("n", None)],
        "v.value",
    ),
    "field": (CODE, {"code": "a"}, {"code": None}, "v.code"),
    "field in a list": (
        pa.list_(CODE),
        [None, {"code": "a"}],
        [None, {"code": None}],
        "v.element.code",
    ),
    "field in a map": (
        pa.map_(pa.string(), CODE),
        [("n", None), ("k", {"code": "a"})],
        [("n", None), ("k", {"code": None})],
        "v.value.code",
    ),
    "field in a key": (
        pa.map_(CODE, CODE),
        [({"code": "a"}, None)],
        [({"code": None}, None)],
        "v.key.code",
    ),
    "element of a field": (
        pa.struct([("tags", TAGS)]),
        {"tags": None},
        {"tags": [None]},
        "v.tags.element",
    ),
    "list in a list": (
        pa.list_(pa.list_(required(CODE))),
        [None, [], [{"code": "a"}]],
        [None, [None]],
        "v.element.element",
    ),
    "value of a map in a map": (
        pa.map_(pa.string(), pa.map_(pa.string(), required(TAGS))),
        [("n", None), ("k", [("q", [])])],
        [("n", None), ("k", [("q", None)])],
        "v.value.value",
    ),
}


def rows_of(kind: pa.DataType, *values: object) -> pa.Table:
    ids = pa.array(range(len(values)), pa.int64())
    return pa.table({"id": ids, "v": pa.array(values, kind)})


def table_of(kind: pa.DataType, *values: object) -> DeltaTable:
    builder = TableBuilder().columns(pa.schema([("id", pa.int64()), ("v", kind)]))
    return builder.rows(rows_of(kind, *values)).build()


def values_of(table: DeltaTable) -> list[object]:
    return table.snapshot().read().sort_by("id")["v"].to_pylist()


VERBS = {
    "append": lambda table, rows: table.append(rows),
    "overwrite": lambda table, rows: table.overwrite(rows),
    "replace where": lambda table, rows: table.overwrite(rows, where="id >= 0"),
    "merge": lambda table, rows: (
        table.merge(rows, on="t.id = s.id").when_matched_update().execute()
    ),
    "insert": lambda table, rows: (
        table.merge(rows, on="t.id = s.id + 10").when_not_matched_insert().execute()
    ),
}


@cases("kind, good, bad, path", CASES)
@cases("verb", VERBS)
def test_a_null_where_none_may_be_is_refused_by_its_path(verb, kind, good, bad, path):
    table = table_of(kind, good, None)

    with pytest.raises(ConstraintViolatedError) as caught:
        verb(table, rows_of(kind, None, bad, good))

    assert caught.value.name == f"NOT NULL {path}"
    assert [row["v"] for row in caught.value.rows] == [bad]
    assert "drop" not in caught.value.hint
    assert values_of(table) == [good, None]


@cases("kind, good, bad, path", CASES)
def test_nulls_around_it_are_written(kind, good, bad, path):  # noqa: ARG001  # of the table
    table = table_of(kind, None, good, None)

    table.append(rows_of(kind, good).slice(0, 0))
    table.update({"id": "id + 1"}, "id = 0")

    assert sorted(map(str, values_of(table))) == sorted(map(str, [None, good, None]))


def test_slices_of_rows_are_looked_at_alone() -> None:
    table = table_of(TAGS)
    rows = rows_of(TAGS, [None], [1], None, [2])

    table.append(rows.slice(1))

    assert values_of(table) == [[1], None, [2]]


def test_nulls_that_another_writer_left_are_read_and_named(tmp_path: Path) -> None:
    kind = pa.list_(pa.int64())
    table = DeltaTable.create(str(tmp_path / "t"), rows_of(kind).schema)
    table.append(rows_of(kind, [None], [1]))
    commit = tmp_path / "t" / "_delta_log" / f"{0:020}.json"
    said = r"\"containsNull\":"
    commit.write_text(commit.read_text().replace(f"{said}true", f"{said}false"))
    table = DeltaTable(str(tmp_path / "t"))

    assert values_of(table) == [[None], [1]]
    table.update({"id": "id + 1"}, "id = 1")  # the other row stays in its file
    with pytest.raises(ConstraintViolatedError, match=r"NOT NULL v\.element"):
        table.update({"id": "id + 1"}, "id = 0")
    table.optimize()
    assert values_of(table) == [[None], [1]]
    table.delete("id = 0")
    assert values_of(table) == [[1]]


def test_a_check_constraint_can_be_dropped() -> None:
    builder = TableBuilder().columns(TAGS_AND_ID)
    table = builder.property("delta.constraints.few", "id < 3").build()

    with pytest.raises(ConstraintViolatedError) as caught:
        table.append(rows_of(TAGS, *[None] * 4))

    assert "drop the constraint" in caught.value.hint
