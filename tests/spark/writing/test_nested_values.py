"""Spark stores values in structs, lists and maps by name, and loses none."""

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.protocol.schema import PrimitiveType, StructField, StructType
from deltaweb.delta.writing.errors import ConstraintViolatedError, SchemaMismatchError
from deltaweb.expressions.errors import ExpressionError, ExpressionValueError
from deltaweb.table import DeltaTable
from tests.spark.settings_cases import KOLKATA, NEW_YORK, settings
from tests.support import cases, matrix

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

XY = pa.struct([("x", pa.int32()), ("y", pa.int32())])
SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("s", pa.string()),
        ("ts", pa.timestamp("us", "UTC")),
        ("st", pa.struct([("x", pa.int32()), ("in", XY), ("l", pa.list_(XY))])),
        ("ar", pa.list_(XY)),
        ("mp", pa.map_(pa.string(), XY)),
    ]
)
NESTED = ("st", "ar", "mp")
MAPPINGS = ["none", "name", "id", "later", "exchanged"]
SESSIONS = [("UTC", True), (NEW_YORK, True), (KOLKATA, False)]
ONLY_SPARK = "hash(id) = hash(id)"
"""True of every row, and evaluated by no process of ours."""

Row = dict[str, Any]


def row(number: int) -> Row:
    xy = {"x": number, "y": number * 10}
    return {
        "id": number,
        "s": f"s{number}",
        "ts": None,
        "st": {"x": number, "in": xy, "l": [xy, None, {"x": None, "y": 1}]},
        "ar": [xy, None],
        "mp": [("k", xy), ("n", None)],
    }


EMPTY = {"id": 4, "s": "s4", "ts": None, **dict.fromkeys(NESTED)}
ROWS = [row(1), row(2), row(3), EMPTY]


def make_table(place: Path, mapping: str, **properties: str) -> DeltaTable:
    """Make a table of the rows; a mapping says what its files call the columns."""
    if mapping in {"name", "id"}:
        properties = {"delta.columnMapping.mode": mapping, **properties}
    table = DeltaTable.create(str(place), SCHEMA, properties=properties)
    is_exchanged = mapping == "exchanged"  # two fields have each the other's name
    rows = [*map(exchanged, ROWS)] if is_exchanged else ROWS
    table.append(pa.Table.from_pylist(rows, SCHEMA))
    if mapping in {"later", "exchanged"}:
        table.set_properties({"delta.columnMapping.mode": "name"}, upgrade=True)
    if is_exchanged:
        for old, new in (("x", "tmp"), ("y", "x"), ("tmp", "y")):
            table.rename_column(f"st.in.{old}", new)
    if mapping == "later":  # and here a field has no other name than before
        table.rename_column("st.l", "list")
        table.rename_column("st.list", "l")
    return table


def exchanged(one: Row) -> Row:
    if one["st"] is None:
        return one
    inside = one["st"]["in"]
    return {**one, "st": {**one["st"], "in": {"x": inside["y"], "y": inside["x"]}}}


def rows_of(table: DeltaTable) -> list[Row]:
    read = table.snapshot().read().sort_by("id")
    rows: list[Row] = read.select(SCHEMA.names).to_pylist()
    return rows


@pytest.fixture
def session(spark: "SparkSession", zone: str, ansi: bool) -> "Iterator[SparkSession]":  # noqa: FBT001 (a parameter)
    with settings(spark, time_zone=zone, ansi=ansi):
        yield spark


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., DeltaTable]:
    def make(mapping: str = "none", **properties: str) -> DeltaTable:
        place = tmp_path / f"t{len(list(tmp_path.iterdir()))}"
        return make_table(place, mapping, **properties)

    return make


def without_times(rows: list[Row]) -> list[Row]:
    return [{**one, "ts": None} for one in rows]


@matrix("mapping", MAPPINGS, often=["name", "exchanged"])
@matrix("zone, ansi", SESSIONS, often=[(NEW_YORK, True)])
class TestRowsOfFilesThatSparkWritesAgain:
    def test_keep_what_a_delete_does_not_name(self, session, make, mapping):
        from deltaweb.spark import delete_rows

        table = make(mapping)
        assert rows_of(table) == ROWS

        delete_rows(session, table.root, f"{ONLY_SPARK} AND id = 2")

        assert rows_of(table) == [row(1), row(3), EMPTY]

    def test_keep_what_an_update_does_not_name(self, session, make, mapping):
        from deltaweb.spark import update_rows

        table = make(mapping)

        sets = {"ts": "TIMESTAMP '2024-03-10 04:30:00'", "s": "soundex(s)"}
        update_rows(session, table.root, sets, "id IN (1, 4)")

        wanted = [{**one, "s": "S000"} if one["id"] in {1, 4} else one for one in ROWS]
        assert without_times(rows_of(table)) == wanted

    def test_take_what_an_update_sets(self, session, make, mapping):
        from deltaweb.spark import update_rows

        table = make(mapping)
        xy = "named_struct('Y', 90 + hash(id) * 0, 'x', 9L)"
        sets = {
            "st": f"named_struct('in', {xy}, 'l', array({xy}), 'X', id)",
            "ar": f"array({xy}, NULL)",
            "mp": f"map('q', {xy})",
        }

        update_rows(session, table.root, sets, "id = 1")

        new = {"x": 9, "y": 90}
        first = {
            **row(1),
            "st": {"x": 1, "in": new, "l": [new]},
            "ar": [new, None],
            "mp": [("q", new)],
        }
        assert rows_of(table) == [first, *ROWS[1:]]

    def test_take_what_a_merge_brings(self, session, make, mapping):
        from deltaweb.spark import merge_rows

        table = make(mapping)
        merge = merge_rows(session, table.root, source(session), "t.id = s.id")
        merge = merge.when_matched_update(condition="soundex(s.s) <> ''")
        merge.when_not_matched_insert().execute()

        assert rows_of(table) == [brought(1), *ROWS[1:], brought(5)]

    def test_take_what_is_written(self, session, make, mapping):
        from deltaweb.spark import write_table

        table = make(mapping)

        write_table(source(session).where("id = 5"), table.root)
        assert rows_of(table) == [*ROWS, brought(5)]
        where = f"{ONLY_SPARK} AND id IN (1, 5)"
        write_table(source(session), table.root, "overwrite", where=where)
        assert rows_of(table) == [brought(1), *ROWS[1:], brought(5)]
        write_table(source(session), table.root, "overwrite")
        assert rows_of(table) == [brought(1), brought(5)]


def source(session: "SparkSession") -> "DataFrame":
    """Two rows whose fields stand in another order, and are of wider types."""
    xy = "named_struct('Y', id * 100, 'X', id)"
    return session.sql("SELECT * FROM VALUES (1L), (5L) v(id)").selectExpr(
        "id",
        "concat('s', id) s",
        "CAST(NULL AS TIMESTAMP) ts",
        f"named_struct('l', array({xy}, NULL), 'in', {xy}, 'x', id) st",
        f"array(NULL, {xy}) ar",
        f"map('k', {xy}, 'n', NULL) mp",
    )


def brought(number: int) -> Row:
    xy = {"x": number, "y": number * 100}
    return {
        "id": number,
        "s": f"s{number}",
        "ts": None,
        "st": {"x": number, "in": xy, "l": [xy, None]},
        "ar": [None, xy],
        "mp": [("k", xy), ("n", None)],
    }


TOO_LARGE = {
    "st": "named_struct('x', 3000000000L, 'in', NULL, 'l', NULL)",
    "st.in": "named_struct('x', 1, 'in', named_struct('x', 1, 'y', 1E12D), 'l', NULL)",
    "ar": "array(named_struct('x', 3000000000L, 'y', 1))",
    "mp": "map('k', named_struct('x', 1, 'y', 3000000000L))",
}
"""Values that have no place in a column, by where it is."""


@matrix("place", [*TOO_LARGE], often=["st.in", "mp"])
@matrix("zone, ansi", [("UTC", True), ("UTC", False)], often=[("UTC", False)])
def test_a_value_that_does_not_fit_is_refused(session, make, place):
    from deltaweb.spark import merge_rows, update_rows

    table, sql, name = make(), TOO_LARGE[place], place.partition(".")[0]
    kept = [one for one in SCHEMA.names if one != name]
    rows = source(session).where("id = 1").selectExpr(*kept, f"{sql} {name}")
    with pytest.raises(ExpressionValueError, match="a value is not a valid int"):
        update_rows(session, table.root, {name: sql})
    for clauses in ({name: f"s.{name}"}, {name: sql}):
        merge = merge_rows(session, table.root, rows, "t.id = s.id")
        with pytest.raises(ExpressionValueError, match="a value is not a valid int"):
            merge.when_matched_update(clauses).execute()
    merge = merge_rows(session, table.root, rows, "t.id = s.id + 7")
    with pytest.raises(ExpressionValueError, match="a value is not a valid int"):
        merge.when_not_matched_insert().execute()
    assert rows_of(table) == ROWS


UNFIT = {
    "a name that is unknown": (
        "array(named_struct('x', 1, 'y', 2, 'z', 3))",
        "it has the field 'ar.element.z'",
    ),
    "a misspelt name": (
        "array(named_struct('x', 1, 'why', 2))",
        "it has the field 'ar.element.why'",
    ),
    "a name that is there twice": (
        "array(named_struct('x', 1, 'X', 2, 'y', 3))",
        "it has the field 'ar.element.X'",
    ),
    "text": (
        "array(named_struct('x', '1', 'y', 2))",
        "'ar.element.x' is int, and it is string",
    ),
    "a day": (
        "array(named_struct('x', DATE '2024-03-10', 'y', 2))",
        "'ar.element.x' is int, and it is date",
    ),
    "another kind of value": ("named_struct('x', 1)", "'ar' is array"),
}


@matrix("zone, ansi", [("UTC", True), ("UTC", False)], often=[("UTC", False)])
@cases("sql, reason", UNFIT)
def test_a_value_of_another_type_is_refused_by_name(session, make, sql, reason):
    from deltaweb.spark import merge_rows, update_rows

    table = make("name")
    rows = session.sql(f"SELECT 1L id, {sql} ar")  # ours
    with pytest.raises(ExpressionError, match=reason):
        update_rows(session, table.root, {"ar": sql})
    refused = (ExpressionError, SchemaMismatchError)
    merge = merge_rows(session, table.root, rows, "t.id = s.id")
    with pytest.raises(refused, match="ar"):
        merge.when_not_matched_insert({"id": "s.id", "ar": "s.ar"}).execute()
    others = [f"NULL {name}" for name in SCHEMA.names if name not in {"id", "ar"}]
    whole = rows.selectExpr("*", *others)
    with pytest.raises(refused, match="'ar"):
        merge_rows(
            session, table.root, whole, "t.id = s.id"
        ).when_matched_update().execute()
    assert rows_of(table) == ROWS


def test_a_field_that_is_missing_is_null_only_in_rows_of_a_source(spark, make):
    from deltaweb.spark import merge_rows, update_rows, write_table

    table, some = make("id"), "array(named_struct('y', 7), NULL)"
    rows = spark.sql(f"SELECT 9L id, {some} ar, NULL mp")  # ours
    reason = "it lacks the field 'ar.element.x'"
    with pytest.raises(ExpressionError, match=reason):
        update_rows(spark, table.root, {"ar": some})
    merge = merge_rows(spark, table.root, rows, "t.id = s.id")
    with pytest.raises(ExpressionError, match=reason):
        merge.when_not_matched_insert({"id": "s.id", "ar": "s.ar"}).execute()

    whole = rows.selectExpr("*", "NULL s", "NULL ts", "NULL st")
    merge = merge_rows(spark, table.root, whole, "t.id = s.id AND soundex(s.s) <> ''")
    merge.when_not_matched_insert().execute()
    write_table(rows.drop("mp").withColumn("id", rows.id + 1), table.root)

    new = {**EMPTY, "s": None, "ar": [{"x": None, "y": 7}, None]}
    assert rows_of(table) == [*ROWS, {**new, "id": 9}, {**new, "id": 10}]


TIME = PrimitiveType("timestamp")
BY_SPARK = {"delta.generationExpression": "CAST(st.ordered AS DATE)"}
FILLED = StructType(
    (
        StructField(
            "st",
            StructType((StructField("ordered", TIME), StructField("shipped", TIME))),
        ),
        StructField("day", PrimitiveType("date"), metadata=BY_SPARK),
    )
)


def test_what_a_table_makes_of_rows_goes_by_the_names_of_fields(spark, tmp_path):
    from deltaweb.spark import write_table

    table = DeltaTable.create(str(tmp_path / "t"), FILLED)
    table.add_constraint("late", "year(st.shipped) >= 2024", upgrade=True)
    sql = "SELECT named_struct('shipped', TIMESTAMP '{}', 'ordered', TIMESTAMP '{}') st"
    with settings(spark, time_zone=NEW_YORK):
        old = spark.sql(sql.format("2001-01-01 12:00:00", "2024-06-06 12:00:00"))
        with pytest.raises(ConstraintViolatedError, match="late"):
            write_table(old, table.root)
        late = spark.sql(sql.format("2025-01-01 12:00:00", "2024-06-06 22:00:00"))
        write_table(late, table.root)

    assert table.snapshot().read(["day"])["day"].to_pylist() == [date(2024, 6, 6)]


def test_errors_of_spark_are_ours(spark, make):
    from deltaweb.spark import delete_rows, merge_rows, update_rows, write_table

    table = make()
    bad = f"{ONLY_SPARK} AND CAST(s AS INT) = 1"
    rows = spark.sql("SELECT 1L id, 's' s")
    broken = rows.selectExpr("CAST(concat(s, id) AS BIGINT) id")
    merge = merge_rows(spark, table.root, rows, "t.id = s.id AND CAST(s.s AS INT) = 1")
    asked = {
        "a division by zero": lambda: update_rows(
            spark, table.root, {"id": "hash(s) DIV 0"}
        ),
        "an aggregate": lambda: update_rows(spark, table.root, {"id": "sum(id)"}),
        "a text that is no number": lambda: delete_rows(spark, table.root, bad),
        "a condition of a merge": merge.when_matched_delete().execute,
        "rows of a source": lambda: write_table(broken, table.root),
        "a condition of a write": lambda: write_table(
            rows, table.root, "overwrite", where=bad
        ),
        "a column that is unknown": lambda: write_table(
            rows, table.root, "overwrite", where=f"{ONLY_SPARK} AND nope = 1"
        ),
        "what is nested too deeply": lambda: update_rows(
            spark, table.root, {"id": "(" * 3000 + "1" + ")" * 3000}
        ),
    }

    for label, change in asked.items():
        with pytest.raises(DeltaError) as caught:
            change()
        assert (label, "\n" in caught.value.message) == (label, False)
    assert rows_of(table) == ROWS
