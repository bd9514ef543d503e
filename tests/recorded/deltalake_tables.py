"""Tables of deltalake, each by a function that is given an empty folder."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import deltalake
import pyarrow as pa

from tests.recorded.recipe import keep_commits

OLD: Final = datetime(2020, 1, 1, tzinfo=UTC).timestamp()
ODD: Final = ("a b", "ü/%", "x=y", None, "+", "#?&", "%25", "日本", "z.")


@dataclass(frozen=True)
class Made:
    """What makes a table, and what it shows.

    Attributes:
        changes: First and last versions of the ranges whose changes are recorded.
    """

    what: str
    make: Callable[[Path], None]
    changes: tuple[tuple[int, int], ...] = ()


def write(folder: Path, rows: pa.Table, **options: Any) -> None:  # noqa: ANN401 (deltalake's own)
    """Write rows, by default at the end of the table."""
    deltalake.write_deltalake(str(folder), rows, **{"mode": "append", **options})


def opened(folder: Path) -> deltalake.DeltaTable:
    """Open the table anew."""
    return deltalake.DeltaTable(str(folder))


def rows(first: int, end: int) -> pa.Table:
    """Return plain rows."""
    ids = range(first, end)
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "v": pa.array([f"v{number}" for number in ids], pa.string()),
            "p": pa.array([number % 3 for number in ids], pa.int32()),
        }
    )


def _partitions_and_checkpoint(folder: Path) -> None:
    for number in range(3):
        ids = range(number * 9, number * 9 + 9)
        odd = pa.table(
            {
                "id": pa.array(ids, pa.int32()),
                "text": pa.array(ODD, pa.string()),
                "day": [date(2024, 2, 28 + one % 2) for one in ids],
            }
        )
        write(folder, odd, partition_by=["text", "day"])
    opened(folder).delete("id % 9 = 2")
    opened(folder).create_checkpoint()
    write(folder, odd.slice(0, 2))


def _changed(folder: Path) -> None:
    write(folder, rows(0, 6))
    opened(folder).update(updates={"v": "'changed'"}, predicate="id = 1")
    opened(folder).delete("id = 2")
    merge = opened(folder).merge(
        rows(4, 8), predicate="t.id = s.id", source_alias="s", target_alias="t"
    )
    merge.when_matched_delete(predicate="s.id = 4").when_matched_update(
        updates={"v": "concat(s.v, '!')"}
    ).when_not_matched_insert_all().execute()


def _fed(folder: Path) -> None:
    feed = {"delta.enableChangeDataFeed": "true"}
    deltalake.DeltaTable.create(
        str(folder), schema=rows(0, 0).schema, configuration=feed
    )
    _changed(folder)


def _optimized(folder: Path) -> None:
    for first in range(0, 12, 3):
        write(folder, rows(first, first + 3), partition_by=["p"])
    opened(folder).optimize.compact(partition_filters=[("p", "=", "1")])
    opened(folder).optimize.z_order(["id"])


def _overwritten(folder: Path) -> None:
    write(folder, rows(0, 9), partition_by=["p"])
    write(folder, rows(30, 31), mode="overwrite", predicate="p = 0")
    write(folder, rows(0, 2), mode="overwrite")


def _evolved(folder: Path) -> None:
    write(folder, rows(0, 3))
    nested = pa.array([{"a": 1, "b": ["x", None]}, None])
    wide = rows(3, 5).append_column("n", nested)
    write(folder, wide, schema_mode="merge")
    opened(folder).create_checkpoint()
    write(folder, wide.select(["id", "n"]), schema_mode="merge")
    write(
        folder,
        pa.table({"other": [1.5, None]}),
        mode="overwrite",
        schema_mode="overwrite",
    )


def _restored(folder: Path) -> None:
    write(folder, rows(0, 3))
    write(folder, rows(3, 6))
    opened(folder).delete("id > 1")
    opened(folder).restore(1)


def _vacuumed(folder: Path) -> None:
    write(folder, rows(0, 3))
    opened(folder).delete("id = 1")
    opened(folder).vacuum(
        retention_hours=0, dry_run=False, enforce_retention_duration=False
    )
    write(folder, rows(3, 4))


def _checked(folder: Path) -> None:
    write(folder, rows(0, 3), name="checked", description="with a rule")
    opened(folder).alter.add_constraint({"small": "id < 100"})
    write(folder, rows(3, 5))
    opened(folder).alter.set_table_properties({"delta.appendOnly": "false"})
    transaction = deltalake.Transaction(app_id="stream", version=7)
    write(
        folder,
        rows(5, 6),
        commit_properties=deltalake.CommitProperties(app_transactions=[transaction]),
    )


def _typed(folder: Path) -> None:
    moment = datetime(2024, 2, 29, 23, 59, 59, 123456, tzinfo=UTC)
    plain = moment.replace(tzinfo=None)
    kinds: Mapping[str, pa.Array] = {
        "id": pa.array([1, 2, 3], pa.int32()),
        "i8": pa.array([-128, 127, None], pa.int8()),
        "i16": pa.array([-32768, 32767, None], pa.int16()),
        "i64": pa.array([-(1 << 63), (1 << 63) - 1, None], pa.int64()),
        "f32": pa.array([float("-inf"), 1.5, None], pa.float32()),
        "f64": pa.array([float("nan"), -0.0, None], pa.float64()),
        "ok": pa.array([True, False, None]),
        "text": pa.array(["", "ü 😀\u2028\n", None]),
        "data": pa.array([b"", b"\x00\xff", None]),
        "day": pa.array([date(1, 1, 1), date(9999, 12, 31), None]),
        "at": pa.array([moment, datetime(1969, 12, 31, 23, 59, 59, 999999, UTC), None]),
        "local": pa.array([plain, datetime(1900, 1, 1), None], pa.timestamp("us")),  # noqa: DTZ001 (it has no zone)
        "d9": pa.array([Decimal("9999999.99"), Decimal("-0.01"), None]),
        "d38": pa.array([Decimal(10**18), Decimal(-1), None], pa.decimal128(38, 18)),
    }
    write(folder, pa.table(kinds))


def _nested(folder: Path) -> None:
    inner = pa.struct([("x", pa.int32()), ("y", pa.list_(pa.string()))])
    kinds = pa.schema(
        [
            ("id", pa.int64()),
            ("s", pa.struct([("i", inner), ("n", pa.int64())])),
            ("l", pa.list_(inner)),
            ("m", pa.map_(pa.string(), inner)),
        ]
    )
    one = {"x": 1, "y": ["a", None]}
    found = [
        {"id": 1, "s": {"i": one, "n": 1}, "l": [one, None], "m": [("k", one)]},
        {"id": 2, "s": None, "l": [], "m": []},
        {"id": 3, "s": {"i": None, "n": None}, "l": None, "m": None},
        {
            "id": 4,
            "s": {"i": {"x": None, "y": []}, "n": 2},
            "l": [one],
            "m": [("n", None)],
        },
    ]
    write(folder, pa.Table.from_pylist(found, kinds))
    opened(folder).delete("id = 2")


def _cleaned(folder: Path) -> None:
    kept = {"delta.logRetentionDuration": "interval 1 days"}
    for first in range(0, 8, 2):
        write(
            folder, rows(first, first + 2), configuration=kept if first == 0 else None
        )
    opened(folder).create_checkpoint()
    keep_commits(folder)
    for path in (folder / "_delta_log").iterdir():
        os.utime(path, (OLD, OLD))
    opened(folder).cleanup_metadata()
    write(folder, rows(8, 9))


def _empty(folder: Path) -> None:
    schema = pa.schema([pa.field("id", pa.int64(), nullable=False), ("v", pa.string())])
    deltalake.DeltaTable.create(str(folder), schema=schema, name="empty")


TABLES: Final[Mapping[str, Made]] = {
    "partitions-checkpoint": Made(
        "odd texts and days as partitions, and a checkpoint", _partitions_and_checkpoint
    ),
    "changed": Made("an update, a delete and a merge", _changed),
    "feed": Made("a change data feed", _fed, changes=((0, 4), (2, 2))),
    "optimized": Made("files put together, in Z-order and not", _optimized),
    "overwritten": Made("all rows and those of a condition overwritten", _overwritten),
    "evolved": Made("added columns, a checkpoint and another schema", _evolved),
    "restored": Made("a version that was brought back", _restored),
    "vacuumed": Made("a version whose data is gone", _vacuumed),
    "checked": Made("a constraint, a description and a transaction", _checked),
    "types": Made("each type of Arrow that a table takes", _typed),
    "nested": Made("structs in structs, lists and maps", _nested),
    "log-cleaned": Made("a log whose first commits are gone", _cleaned),
    "empty": Made("a schema and no rows", _empty),
}
