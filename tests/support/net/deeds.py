"""The changes: each done by an engine, and to the model."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.support.net.model import Row
from tests.support.net.tables import ONLY_SPARK, NetTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from deltaweb.writer.merge.builder import MergeBuilder

Deed = Callable[[NetTable, "SparkSession"], None]
PROCESS, TASKS, SPARK = "process", "tasks", "spark"
LATE = "2024-03-10 23:30:00"


def append(net: NetTable, spark: "SparkSession") -> None:
    rows = [net.row(6), net.row(7)]
    _write(net, spark, rows)
    net.model.append(rows)


def overwrite(net: NetTable, spark: "SparkSession") -> None:
    rows = [net.row(1, seed=11), net.row(6)]
    _write(net, spark, rows, mode="overwrite")
    net.model.replace(lambda _: True, rows)


def overwrite_partitions(net: NetTable, spark: "SparkSession") -> None:
    rows = [net.row(6), net.row(9)]
    _write(net, spark, rows, mode="overwrite", dynamic=True)
    gone = [row["p"] for row in rows]
    net.model.replace(lambda row: row["p"] in gone, rows)


def replace_where(net: NetTable, spark: "SparkSession") -> None:
    rows = [net.row(2, seed=12), net.row(6)]
    _write(net, spark, rows, mode="overwrite", where=_where(net, "id IN (2, 4, 6)"))
    net.model.replace(lambda row: row["id"] in {2, 4}, rows)


def delete(net: NetTable, spark: "SparkSession") -> None:
    from deltaweb.spark import delete_rows

    where = _where(net, "id IN (1, 4)")
    if net.cell.engine == PROCESS:
        net.table.delete(where)
    else:
        delete_rows(spark, net.table.root, where)
    net.model.delete(lambda row: row["id"] in {1, 4})


def update(net: NetTable, spark: "SparkSession") -> None:
    from deltaweb.spark import update_rows

    sets, where = {"s": "concat(s, '!')", "w": "w + 1"}, "id IN (1, 4)"
    sets["ts"] = f"TIMESTAMP '{LATE}'"
    if net.cell.engine == SPARK:
        sets["v"] = net.shape.sql.replace("{n}", "id")
    if net.cell.engine == PROCESS:
        net.table.update(sets, where)
    else:
        update_rows(spark, net.table.root, sets, where)
    net.model.update(lambda row: _updated(net, row), lambda row: row["id"] in {1, 4})


def _updated(net: NetTable, row: Row) -> Row:
    values = {
        "s": row["s"] and f"{row['s']}!",
        "w": None if row["w"] is None else row["w"] + 1,
        "ts": net.local_time(LATE),
    }
    if net.cell.engine == SPARK:
        values["v"] = net.shape.of_sql(row["id"])
    return values


def move(net: NetTable, spark: "SparkSession") -> None:
    """Have rows in another partition."""
    from deltaweb.spark import update_rows

    sets, where = {"p": "NULL"}, _where(net, "id IN (1, 4)")
    if net.cell.engine == PROCESS:
        net.table.update(sets, where)
    else:
        update_rows(spark, net.table.root, sets, where)
    net.model.update(lambda _: {"p": None}, lambda row: row["id"] in {1, 4})


def upsert(net: NetTable, spark: "SparkSession") -> None:
    rows = [net.row(1, seed=12), net.row(4, seed=11), net.row(8)]
    merge = _merge(net, spark, rows)
    merge.when_matched_update().when_not_matched_insert().execute()
    net.model.merge(
        rows,
        matched=lambda _, other: other,
        unmatched=lambda other: other,
        left=lambda _: {},
    )


def merge(net: NetTable, spark: "SparkSession") -> None:
    rows = [
        *(net.row(1, seed=12), net.row(2, seed=13), net.row(4, seed=11)),
        *(net.row(6), net.row(8)),
    ]
    asked = _merge(net, spark, rows)
    asked = asked.when_matched_delete("t.id = 1")
    asked = asked.when_matched_update(
        {"s": "concat(t.s, s.s)", "v": "s.v"}, "s.id > 1 AND t.id < 4"
    )
    inserted = {name: f"s.{name}" for name in net.columns if name != "s"}
    asked = asked.when_not_matched_insert(inserted, "s.id < 8")
    asked = asked.when_not_matched_by_source_update({"s": "'left'"}, "t.id < 5")
    asked.when_not_matched_by_source_delete("t.id = 5").execute()
    net.model.merge(
        rows,
        matched=_matched,
        unmatched=lambda other: {**other, "s": None} if other["id"] < 8 else None,
        left=lambda row: None if row["id"] == 5 else {"s": "left"},
    )


def _matched(row: Row, other: Row) -> Row | None:
    if row["id"] == 1:
        return None
    if row["id"] >= 4:
        return {}
    texts = (row["s"], other["s"])
    return {"s": None if None in texts else "".join(texts), "v": other["v"]}


def optimize(net: NetTable, _: "SparkSession") -> None:
    net.table.optimize()
    net.model.restore(net.model.rows)


def restore(net: NetTable, _: "SparkSession") -> None:
    net.table.restore(net.first_version)
    net.model.restore(net.first_rows)


def add_column(net: NetTable, spark: "SparkSession") -> None:
    net.table.add_columns("more STRUCT<a: INT>")
    net.model.update(lambda _: {"more": None}, lambda _: True)
    append(net, spark)
    for row in net.model.rows:
        row.setdefault("more", None)


def _where(net: NetTable, sql: str) -> str:
    return f"{sql} AND {ONLY_SPARK}" if net.cell.engine == SPARK else sql


def _merge(net: NetTable, spark: "SparkSession", rows: list[Row]) -> "MergeBuilder":
    from deltaweb.spark import merge_rows

    source, on = net.source(rows), "t.id = s.id"
    if net.cell.engine == PROCESS:
        return net.table.merge(source, on=on)
    if net.cell.engine == SPARK:
        on += " AND hash(t.id) = hash(s.id)"
    return merge_rows(spark, net.table.root, spark.createDataFrame(source), on)


def _write(
    net: NetTable,
    spark: "SparkSession",
    rows: list[Row],
    *,
    mode: str = "append",
    **asked: Any,  # noqa: ANN401 (of `write_table`)
) -> None:
    from deltaweb.spark import write_table

    source = net.source(rows)
    if net.cell.engine != PROCESS:
        write_table(spark.createDataFrame(source), net.table.root, mode, **asked)
    elif mode == "append":
        net.table.append(source)
    else:
        net.table.overwrite(source, **asked)


_BY_TWO = (PROCESS, TASKS)
_BY_ALL = (PROCESS, TASKS, SPARK)
VERBS: dict[str, tuple[Deed, tuple[str, ...]]] = {
    "append": (append, _BY_TWO),
    "overwrite": (overwrite, _BY_TWO),
    "overwrite partitions": (overwrite_partitions, _BY_TWO),
    "replace where": (replace_where, _BY_ALL),
    "delete": (delete, _BY_ALL),
    "update": (update, _BY_ALL),
    "move": (move, _BY_ALL),
    "upsert": (upsert, _BY_ALL),
    "merge": (merge, _BY_ALL),
    "optimize": (optimize, (PROCESS,)),
    "restore": (restore, (PROCESS,)),
    "add column": (add_column, _BY_TWO),
}
"""The changes, and the engines that do them."""
