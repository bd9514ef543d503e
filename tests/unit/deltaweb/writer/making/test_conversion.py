"""Folders of Parquet files become tables where they lie."""

import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.errors import DeltaError
from deltaweb.delta.protocol.schema import PrimitiveType, StructField, type_text
from deltaweb.delta.writing.errors import LocationTakenError
from deltaweb.table import DeltaTable
from deltaweb.writer.making.conversion import (
    Conversion,
    FolderNotConvertibleError,
    plan_conversion,
)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def written(place: str, **columns: object) -> Path:
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(columns), path)
        return path

    return written


def types(table: DeltaTable) -> dict[str, str]:
    schema = table.snapshot().schema
    return {field.name: type_text(field.data_type) for field in schema.fields}


def rows(table: DeltaTable, key: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = table.snapshot().read().sort_by(key).to_pylist()
    return found


def statistics(table: DeltaTable) -> list[dict[str, Any]]:
    actions = table.read_commit(0)
    return [json.loads(a["add"]["stats"]) for a in actions if "add" in a]


def problems(place: Path, asked: Conversion | None = None) -> list[str]:
    with pytest.raises(FolderNotConvertibleError) as caught:
        plan_conversion(DeltaTable(str(place)).store, asked or Conversion())
    return [str(problem) for problem in caught.value.problems]


def test_a_folder_becomes_a_table_without_touching_its_files(tmp_path, write):
    first = write("year=2026/country=DE/a.parquet", id=[1, 2], s=["x", None])
    write("year=2025/country=__HIVE_DEFAULT_PARTITION__/b.parquet", id=[3], s=["z"])
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".a.crc").write_bytes(b"crc")
    (tmp_path / "README.md").write_text("about these rows")
    before = first.stat()

    table = DeltaTable.convert(str(tmp_path))

    assert first.stat().st_mtime_ns == before.st_mtime_ns
    assert types(table) == {
        "id": "bigint",
        "s": "string",
        "year": "int",
        "country": "string",
    }
    assert rows(table, "id") == [
        {"id": 1, "s": "x", "year": 2026, "country": "DE"},
        {"id": 2, "s": None, "year": 2026, "country": "DE"},
        {"id": 3, "s": "z", "year": 2025, "country": None},
    ]
    assert table.snapshot().metadata.partition_columns == ["year", "country"]
    assert [info.operation for info in table.history()] == ["CONVERT"]
    assert [len(table.readable_versions()), table.latest_version()] == [1, 0]


def test_it_says_what_it_would_be_before(tmp_path: Path, write: Callable[..., Path]):
    write("a.parquet", id=[1, 2])
    (tmp_path / "notes.txt").write_text("no Parquet")
    (tmp_path / "part-00000").write_bytes((tmp_path / "a.parquet").read_bytes())
    told: list[tuple[int, int]] = []

    asked = Conversion(on_progress=lambda *counts: told.append(counts))
    plan = plan_conversion(DeltaTable(str(tmp_path)).store, asked).describe()

    assert not (tmp_path / "_delta_log").exists()
    assert (plan["num_files"], plan["num_rows"]) == (2, 4)
    assert plan["passed_over"] == ["notes.txt"]
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_deltalake_makes_the_same_table(tmp_path: Path, write: Callable[..., Path]):
    for other in ("ours", "theirs"):
        write(f"{other}/d=2026-01-01/a b%.parquet", id=[1, 2], s=["é" * 40, "a"])
        write(f"{other}/d=2026-01-02/b.parquet", id=[None, 9], s=["m", None])

    DeltaTable.convert(str(tmp_path / "ours"), partition_schema="d DATE")
    deltalake.convert_to_deltalake(
        str(tmp_path / "theirs"),
        partition_by=deltalake.Schema(
            [deltalake.Field("d", deltalake.schema.PrimitiveType("date"))]
        ),
        partition_strategy="hive",
    )

    ours, theirs = (deltalake.DeltaTable(str(tmp_path / n)) for n in ("ours", "theirs"))
    assert ours.schema() == theirs.schema()
    assert sorted(ours.to_pyarrow_table().to_pylist(), key=str) == sorted(
        theirs.to_pyarrow_table().to_pylist(), key=str
    )
    assert types(DeltaTable(str(tmp_path / "ours")))["d"] == "date"


def test_schemas_are_merged_and_every_conflict_names_its_file(tmp_path, write):
    write("a/1.parquet", id=pa.array([1], pa.int32()))
    write("a/2.parquet", id=pa.array([2], pa.int16()), more=["x"])
    write("b/1.parquet", id=[1], when=[1])
    write("b/2.parquet", id=["one"], when=[date(2026, 1, 1)])
    write("b/3.parquet", t=pa.array([1], pa.time64("us")))
    (tmp_path / "b/4.parquet").write_bytes(b"PAR1 this is not all PAR1")

    table = DeltaTable.convert(str(tmp_path / "a"))
    said = problems(tmp_path / "b")

    assert types(table) == {"id": "int", "more": "string"}
    assert rows(table, "id")[1] == {"id": 2, "more": "x"}
    assert len(said) == 4
    assert said[0].startswith("4.parquet: ")
    assert said[1] == ("2.parquet: id: its type is string, but long in 1.parquet")
    assert said[2].startswith("2.parquet: when: its type is date")
    assert said[3].startswith("3.parquet: t: TIME")
    assert not (tmp_path / "b" / "_delta_log").exists()


def test_sparks_own_schema_wins(tmp_path: Path) -> None:
    schema = {
        "type": "struct",
        "fields": [
            {
                "name": "id",
                "type": "long",
                "nullable": False,
                "metadata": {"comment": "the key", "delta.identity.start": 1},
            }
        ],
    }
    key = b"org.apache.spark.sql.parquet.row.metadata"
    rows_of_spark = pa.table({"id": [1]}).replace_schema_metadata(
        {key: json.dumps(schema).encode()}
    )
    pq.write_table(rows_of_spark, tmp_path / "a.parquet")

    column = DeltaTable.convert(str(tmp_path)).snapshot().schema.fields[0]

    assert column.nullable
    assert dict(column.metadata) == {"comment": "the key"}


def test_bounds_come_from_footers_where_they_hold(tmp_path, write):
    moment = datetime(2026, 1, 31, 8, 0, 0, 123_456, UTC)
    write(
        "a.parquet",
        n=pa.array([3, None, -1], pa.int32()),
        s=["b" * 50, "a", None],
        t=pa.array([moment, None, None], pa.timestamp("us", "UTC")),
        d=pa.array([date(2026, 1, 1), date(1600, 1, 1), None]),
        e=pa.array([Decimal("1.50"), Decimal("-2.25"), None], pa.decimal128(9, 2)),
        f=[1.5, float("nan"), None],
        b=[True, None, False],
        l=[[1], None, []],
        g=pa.array([{"x": 1}, None, {"x": None}], pa.struct([("x", pa.int64())])),
    )

    found = statistics(DeltaTable.convert(str(tmp_path)))[0]

    assert found["numRecords"] == 3
    assert found["minValues"] == {
        "n": -1,
        "s": "a",
        "t": "2026-01-31T08:00:00.123Z",
        "e": -2.25,
        "g": {"x": 1},
    }
    assert found["maxValues"] == {
        "n": 3,
        "s": "b" * 32 + "\x7f",
        "t": "2026-01-31T08:00:00.124Z",
        "e": 1.5,
        "g": {"x": 1},
    }
    assert found["nullCount"] == {**dict.fromkeys("nsdebf", 1), "t": 2, "g": {"x": 2}}


def test_bounds_of_several_row_groups_are_of_all_of_them(tmp_path: Path) -> None:
    table = pa.table({"n": [5, 1, 9, 7], "s": ["b", "a", "d", "c"]})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=1)
    pq.write_table(table, tmp_path / "b.parquet", write_statistics=False)

    told, silent = statistics(DeltaTable.convert(str(tmp_path)))

    assert told["minValues"] == {"n": 1, "s": "a"}
    assert told["maxValues"] == {"n": 9, "s": "d"}
    assert silent == {
        "numRecords": 4,
        "minValues": {},
        "maxValues": {},
        "nullCount": {},
    }


def test_the_values_of_folders_are_of_their_types(tmp_path, write):
    write("m=01/k=a%3Db/1.parquet", id=[1])
    write("m=2/k=c d/1.parquet", id=[2])
    write("m=x/k=e/1.parquet", id=[3])

    column = StructField("m", PrimitiveType("integer"))
    said = problems(tmp_path, Conversion(partition_schema=[column]))
    table = DeltaTable.convert(str(tmp_path), partition_schema="k STRING, M STRING")

    assert "name the columns m, k, where m were given" in said[0]
    assert types(table) == {"id": "bigint", "k": "string", "M": "string"}
    assert [row["k"] for row in rows(table, "id")] == ["a=b", "c d", "e"]
    assert [row["M"] for row in rows(table, "id")] == ["01", "2", "x"]


def test_a_text_that_is_no_value_of_its_column_is_named(tmp_path, write):
    write("m=1/1.parquet", id=[1])
    write("m=x/1.parquet", id=[3])

    with pytest.raises(
        FolderNotConvertibleError, match="'x', which is not a valid int"
    ):
        DeltaTable.convert(str(tmp_path), partition_schema="m INT")


def test_folders_that_name_other_columns_are_named(tmp_path, write):
    write("m=1/1.parquet", id=[1])
    write("1.parquet", id=[3])

    assert problems(tmp_path) == [
        "m=1/1.parquet: its folders name the columns m, and those of 1.parquet none"
    ]


def test_what_is_a_table_already_is_left_alone(tmp_path, write):
    write("inner/1.parquet", id=[1])
    DeltaTable.convert(str(tmp_path / "inner"))

    with pytest.raises(LocationTakenError):
        DeltaTable.convert(str(tmp_path / "inner"))
    assert problems(tmp_path) == ["inner/: it is a table of its own"]


def test_an_empty_folder_is_no_table(tmp_path: Path) -> None:
    assert problems(tmp_path) == ["no Parquet file is in it"]


def test_names_that_a_table_cannot_have_are_all_named(tmp_path, write):
    write("1.parquet", **{"a b": [1], "c;": [2], "ok": [3]})

    said = problems(tmp_path)

    assert [line.partition(":")[0] for line in said] == ["a b", "c;"]


def test_a_link_out_of_the_folder_is_not_followed(tmp_path, write):
    outside = write("outside/secret.parquet", id=[1])
    write("in/1.parquet", id=[1])
    (tmp_path / "in/2.parquet").symlink_to(outside)

    assert problems(tmp_path / "in")[0].startswith("2.parquet: ")


def test_a_column_of_the_folders_wins_over_that_of_the_files(tmp_path, write):
    write("p=7/1.parquet", id=[1], p=["in the file"])

    assert rows(DeltaTable.convert(str(tmp_path)), "id") == [{"id": 1, "p": 7}]


def test_who_stops_it_leaves_nothing(tmp_path: Path, write: Callable[..., Path]):
    write("1.parquet", id=[1])

    def stop(_done: int, _total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        DeltaTable.convert(str(tmp_path), on_progress=stop)
    with pytest.raises(DeltaError):
        DeltaTable(str(tmp_path)).latest_version()
    assert (tmp_path / "1.parquet").exists()
