"""Rows of tables that map columns: by logical names, whatever files call them."""

import json
from datetime import date

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from deltaweb.delta.errors import DataFileError, SchemaError
from deltaweb.delta.scan.predicate import Comparison, IsNull
from deltaweb.table import DeltaTable
from tests.support.tables.mapped_tables import MappedTable, field, struct, with_id

ID = field("id", "long", 1, "col-1")
NAME = field("name", "string", 2, "col-2")
STORED = pa.table({"col-1": [1, 2], "col-2": ["a", "b"]})
NESTED = [
    field("home", struct(field("town", "string", 2, "p2")), 1, "p1"),
    field(
        "visits",
        {"type": "array", "elementType": struct(field("at", "date", 4, "p4"))},
        3,
        "p3",
    ),
    field(
        "by_key",
        {
            "type": "map",
            "keyType": "string",
            "valueType": struct(field("v", "long", 6, "p6")),
        },
        5,
        "p5",
    ),
]


def stats(low: int, high: int) -> str:
    bounds = {"minValues": {"col-1": low}, "maxValues": {"col-1": high}}
    return json.dumps({"numRecords": 2, **bounds, "nullCount": {"col-1": 0}})


class TestByName:
    def test_columns_are_found_by_their_physical_names(self) -> None:
        written = MappedTable(ID, NAME)
        written.add("a", STORED)

        rows = written.table.snapshot().read()

        assert rows.to_pylist() == [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]

    def test_a_file_column_of_the_logical_name_is_another_column(self) -> None:
        written = MappedTable(ID, NAME)
        written.add("a", pa.table({"id": [9], "col-2": ["a"]}))

        assert written.table.snapshot().read().to_pylist() == [
            {"id": None, "name": "a"}
        ]

    def test_nested_columns_are_found_at_every_level(self) -> None:
        written = MappedTable(*NESTED)
        day = date(2026, 1, 1)
        written.add(
            "a",
            pa.table(
                {
                    "p1": [{"p2": "Bern"}],
                    "p3": [[{"p4": day}, None]],
                    "p5": pa.array(
                        [[("k", {"p6": 1})]],
                        pa.map_(pa.string(), pa.struct([("p6", pa.int64())])),
                    ),
                }
            ),
        )

        (row,) = written.table.snapshot().read().to_pylist()

        assert row["home"] == {"town": "Bern"}
        assert row["visits"] == [{"at": day}, None]
        assert row["by_key"] == [("k", {"v": 1})]

    def test_each_version_has_the_names_of_its_day(self) -> None:
        written = MappedTable(ID, NAME)
        written.add("a", STORED)
        written.evolve(ID, field("title", "string", 2, "col-2"))
        written.evolve(ID)
        written.evolve(ID, field("name", "string", 3, "col-3"))
        written.add("b", pa.table({"col-1": [3], "col-3": ["c"]}))

        def rows(version: int) -> list[dict[str, object]]:
            found: list[dict[str, object]]
            found = written.table.snapshot(version).read().to_pylist()
            return found

        assert rows(1) == [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]
        assert rows(2) == [{"id": 1, "title": "a"}, {"id": 2, "title": "b"}]
        assert rows(3) == [{"id": 1}, {"id": 2}]
        assert rows(4) == [{"id": 1, "name": None}, {"id": 2, "name": None}]
        assert rows(5) == [
            {"id": 1, "name": None},
            {"id": 2, "name": None},
            {"id": 3, "name": "c"},
        ]


class TestById:
    def test_columns_are_found_by_their_ids_whatever_their_names(self) -> None:
        written = MappedTable(ID, NAME, mode="id")
        fields = [with_id("col-2", pa.int64(), 1), with_id("other", pa.string(), 2)]
        written.add("a", pa.table([[1], ["a"]], schema=pa.schema(fields)))

        assert written.table.snapshot().read().to_pylist() == [{"id": 1, "name": "a"}]

    def test_nested_columns_are_found_by_ids(self) -> None:
        written = MappedTable(*NESTED[:1], mode="id")
        town = with_id("anything", pa.string(), 2)
        home = with_id("x", pa.struct([town, pa.field("p2", pa.string())]), 1)
        values = pa.array([{"anything": "Bern", "p2": "no"}], home.type)
        written.add("a", pa.Table.from_arrays([values], schema=pa.schema([home])))

        rows = written.table.snapshot().read().to_pylist()

        assert rows == [{"home": {"town": "Bern"}}]

    def test_an_id_that_a_file_lacks_is_null(self) -> None:
        written = MappedTable(ID, NAME, mode="id")
        fields = [with_id("col-1", pa.int64(), 1), with_id("col-2", pa.string(), 7)]
        written.add("a", pa.table([[1], ["a"]], schema=pa.schema(fields)))

        assert written.table.snapshot().read().to_pylist() == [{"id": 1, "name": None}]

    def test_a_file_without_ids_is_refused_by_its_name(self) -> None:
        written = MappedTable(ID, NAME, mode="id")
        written.add("a.parquet", STORED)

        with pytest.raises(DataFileError, match="no field ids") as caught:
            written.table.snapshot().read()

        assert caught.value.path == "a.parquet"

    def test_a_file_with_an_id_twice_is_refused_by_its_name(self) -> None:
        written = MappedTable(ID, NAME, mode="id")
        fields = [with_id("x", pa.int64(), 1), with_id("y", pa.int64(), 1)]
        written.add("a.parquet", pa.table([[1], [2]], schema=pa.schema(fields)))

        with pytest.raises(DataFileError, match="'id'"):
            written.table.snapshot().read()


class TestAPredicate:
    @pytest.fixture
    def table(self) -> DeltaTable:
        written = MappedTable(ID, NAME)
        written.add("a", STORED, stats=stats(1, 2))
        written.add("b", pa.table({"col-1": [7, 8]}), stats=stats(7, 8))
        return written.table

    def test_speaks_of_logical_names_and_skips_files_by_physical_ones(self, table):
        scan = table.snapshot().scan(predicate=Comparison(("id",), ">", pa.scalar(5)))

        rows = pa.Table.from_batches(scan, scan.schema)

        assert rows["id"].to_pylist() == [7, 8]
        assert (scan.files_selected, scan.files_scanned) == (1, 1)

    def test_may_be_an_expression_of_arrow(self, table: DeltaTable) -> None:
        rows = table.snapshot().read(["name"], pc.field("id") == 2)

        assert rows.to_pylist() == [{"name": "b"}]

    def test_finds_the_nulls_of_a_column_that_files_lack(self, table: DeltaTable):
        rows = table.snapshot().read(["id"], IsNull(("name",)))

        assert rows["id"].to_pylist() == [7, 8]

    def test_leaves_out_row_groups_by_their_own_statistics(self) -> None:
        written = MappedTable(ID, NAME, mode="id")
        schema = pa.schema([with_id("odd", pa.int64(), 1)])
        rows = pa.table([list(range(4))], schema=schema)
        written.add("a", rows, row_group_rows=2)
        snapshot = written.table.snapshot()

        found = snapshot.read(["id"], Comparison(("id",), "=", pa.scalar(3)))

        assert found["id"].to_pylist() == [3]


class TestStatistics:
    def test_have_logical_names(self) -> None:
        written = MappedTable(ID, NAME)
        written.add("a", STORED, stats=stats(1, 2))

        (row,) = written.table.snapshot().statistics().to_pylist()

        assert row["min"] == {"id": 1, "name": None}
        assert row["null_count"] == {"id": 0, "name": None}

    def test_of_nested_columns_too(self) -> None:
        written = MappedTable(*NESTED)
        text = json.dumps({"numRecords": 1, "minValues": {"p1": {"p2": "Bern"}}})
        written.add("a", pa.table({"p1": [{"p2": "Bern"}]}), stats=text)

        (row,) = written.table.snapshot().statistics(["home.town"]).to_pylist()

        assert row["min"] == {"home": {"town": "Bern"}}

    def test_of_a_logical_name_are_another_column_s(self) -> None:
        written = MappedTable(ID, NAME)
        text = json.dumps({"numRecords": 1, "minValues": {"id": 9}})
        written.add("a", STORED, stats=text)

        (row,) = written.table.snapshot().statistics(["id"]).to_pylist()

        assert row["min"]["id"] is None


class TestPartitionValues:
    @pytest.fixture
    def table(self) -> DeltaTable:
        written = MappedTable(ID, NAME, partitions=["name"])
        for value in ("a", "b"):
            rows = pa.table({"col-1": [1]})
            written.add(value, rows, partitionValues={"col-2": value})
        return written.table

    def test_are_those_of_the_physical_name(self, table: DeltaTable) -> None:
        rows = table.snapshot().read().sort_by("name").to_pylist()

        assert rows == [{"id": 1, "name": "a"}, {"id": 1, "name": "b"}]

    def test_leave_out_files_by_the_logical_name(self, table: DeltaTable) -> None:
        predicate = Comparison(("name",), "=", pa.scalar("b"))

        scan = table.snapshot().scan(predicate=predicate)

        assert scan.files_selected == 1

    def test_are_as_the_log_has_them_in_the_list_of_files(self, table: DeltaTable):
        values = table.snapshot().files["partition_values"].to_pylist()

        assert sorted(values) == [[("col-2", "a")], [("col-2", "b")]]


def test_a_contradiction_names_the_column_before_any_file_is_opened() -> None:
    written = MappedTable(ID, field("name", "string", 1, "col-2"))
    written.add("a", STORED)

    with pytest.raises(SchemaError, match="name"):
        written.table.snapshot().read()
