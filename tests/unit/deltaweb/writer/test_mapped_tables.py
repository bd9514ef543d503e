"""Writing to tables that map columns, by name and by id."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.errors import PropertyError
from deltaweb.delta.features.column_mapping import table_schema
from deltaweb.delta.protocol.schema import parse_schema
from deltaweb.delta.writing.errors import (
    ColumnInUseError,
    NewColumnsError,
    ProtocolUpgradeError,
)
from deltaweb.table import DeltaTable
from tests.support.tables.table_builder import ROWS, TableBuilder, numbers

pytestmark = pytest.mark.slow

MODE = "delta.columnMapping.mode"
NESTED = pa.schema(
    [
        ("n", pa.int64()),
        ("p", pa.string()),
        ("one", pa.struct([("a", pa.int64()), ("b", pa.string())])),
        ("many", pa.list_(pa.struct([("a", pa.int64()), ("z", pa.float64())]))),
        ("named", pa.map_(pa.string(), pa.struct([("a", pa.int64())]))),
    ]
)
NESTED_ROWS = pa.table(
    {
        "n": [1, 2, 3],
        "p": ["x", None, "x"],
        "one": [{"a": 1, "b": "s"}, None, {"a": None, "b": "t"}],
        "many": [[{"a": 1, "z": 0.5}, None], None, []],
        "named": [[("k", {"a": 7})], [], None],
    },
    NESTED,
)


@pytest.fixture(params=["name", "id"])
def table(request: pytest.FixtureRequest) -> DeltaTable:
    return TableBuilder().partitioned_by("p").property(MODE, request.param).build()


def stored_names(table: DeltaTable) -> dict[str, str]:
    return {f.name: f.stored_name for f in table.snapshot().schema.fields}


def ids(table: DeltaTable) -> dict[str, int]:
    schema = parse_schema(table.definition().metadata.schema_string or "")
    return {f.name: f.metadata["delta.columnMapping.id"] for f in schema.fields}


def highest(table: DeltaTable) -> str:
    return table.definition().metadata.configuration["delta.columnMapping.maxColumnId"]


def rows(table: DeltaTable) -> list[dict[str, object]]:
    found = table.snapshot().read().to_pylist()
    return sorted(found, key=lambda row: str(row["n"]))


class TestFiles:
    def test_know_columns_by_other_names_and_by_ids(self, table: DeltaTable) -> None:
        table.append(ROWS)

        names = stored_names(table)
        assert all(name.startswith("col-") for name in names.values())
        for path in table.snapshot().files["path"].to_pylist():
            schema = pq.read_schema(table.store.open_data_file(path))
            assert schema.names == [names["n"], names["s"]]
            assert [f.metadata[b"PARQUET:field_id"] for f in schema] == [b"1", b"2"]
        added = [action["add"] for action in table.read_commit(1) if "add" in action]
        assert {*added[0]["partitionValues"]} == {names["p"]}
        assert {*json.loads(added[0]["stats"])["nullCount"]} == {names["n"], names["s"]}
        assert numbers(table) == [1, 2, 3]

    @pytest.mark.parametrize("mode", ["name", "id"])
    def test_hold_nested_columns_by_their_names_too(self, mode: str) -> None:
        builder = TableBuilder().partitioned_by("p").property(MODE, mode)
        table = builder.rows(NESTED_ROWS, NESTED_ROWS.slice(1)).build()

        found = table.snapshot().read().sort_by("n")
        wanted = pa.concat_tables([NESTED_ROWS, NESTED_ROWS.slice(1)]).sort_by("n")
        assert found.to_pylist() == wanted.to_pylist()

    def test_are_changed_and_packed(self, table: DeltaTable) -> None:
        table.append(ROWS)
        table.append(pa.table({"n": [4, 5], "p": ["x", None]}))

        table.delete("n = 1")
        table.update({"s": "concat(p, '!')"}, "n >= 3")
        table.merge(
            pa.table({"n": [2, 9], "p": ["y", "z"]}), on="t.n = s.n"
        ).when_matched_update({"s": "'merged'"}).when_not_matched_insert(
            {"n": "s.n", "p": "s.p"}
        ).execute()
        table.optimize()
        table.overwrite(pa.table({"n": [7], "s": ["w"], "p": ["z"]}), dynamic=True)

        assert rows(table) == [
            {"n": 2, "s": "merged", "p": "y"},
            {"n": 3, "s": "x!", "p": "x"},
            {"n": 4, "s": "x!", "p": "x"},
            {"n": 5, "s": None, "p": None},
            {"n": 7, "s": "w", "p": "z"},
        ]
        assert table.delete("p = 'x'").num_removed_files == 1
        table.restore(version=1)
        assert numbers(table) == [1, 2, 3]


class TestColumns:
    def test_that_are_new_get_ids_that_were_never_given(self, table: DeltaTable):
        table.append(ROWS)
        table.add_columns("note STRUCT<a: INT, b: STRING>")
        table.drop_column("note")
        table.append(pa.table({"n": [4], "more": [1.5]}), merge_schema=True)

        assert ids(table) == {"n": 1, "s": 2, "p": 3, "more": 7}
        assert highest(table) == "7"
        assert rows(table)[-1] == {"n": 4, "s": None, "p": None, "more": 1.5}
        table.restore(version=1)
        assert highest(table) == "7"

    def test_of_a_schema_that_takes_another_place_stay_where_they_are_the_same(
        self, table: DeltaTable
    ) -> None:
        table.append(ROWS)
        before = stored_names(table)

        table.overwrite(
            pa.table({"n": [1], "s": [2], "p": ["x"]}), overwrite_schema=True
        )

        after = stored_names(table)
        assert (after["n"], after["p"]) == (before["n"], before["p"])
        assert after["s"] != before["s"]
        assert rows(table) == [{"n": 1, "s": 2, "p": "x"}]

    def test_are_renamed_and_dropped_without_a_file(self, table: DeltaTable) -> None:
        table.append(ROWS)
        table.rename_column("s", "text")
        table.rename_column("P", "place")
        table.drop_column("n")
        table.add_columns("n BIGINT")

        assert table.snapshot().read().sort_by("text").to_pylist() == [
            {"text": "a", "place": "x", "n": None},
            {"text": "b", "place": "y", "n": None},
            {"text": None, "place": "x", "n": None},
        ]
        table.append(pa.table({"n": [4], "text": ["c"], "place": ["x"]}))
        table.delete("text = 'a'")
        assert table.snapshot().read(["n", "text"]).sort_by("text").to_pylist() == [
            {"n": None, "text": "b"},
            {"n": 4, "text": "c"},
            {"n": None, "text": None},
        ]
        assert table.definition().metadata.partition_columns == ["place"]
        assert [entry.operation for entry in table.history()][3:5] == [
            "DROP COLUMNS",
            "RENAME COLUMN",
        ]

    def test_within_others_are_renamed_too(self) -> None:
        builder = TableBuilder().columns(NESTED).property(MODE, "name")
        table = builder.rows(NESTED_ROWS).build()
        table.rename_column("one.a", "first")
        table.drop_column("one.b")

        assert table.snapshot().read(["one"])["one"].to_pylist() == [
            {"first": 1}, None, {"first": None},
        ]  # fmt: skip

    def test_that_something_names_stay(self) -> None:
        builder = TableBuilder().partitioned_by("p").property(MODE, "name")
        table = builder.property("delta.constraints.c", "length(S) > 0").build()

        with pytest.raises(ColumnInUseError, match="constraint c"):
            table.drop_column("s")
        with pytest.raises(ColumnInUseError, match="partitioned"):
            table.drop_column("p")
        with pytest.raises(NewColumnsError, match="already"):
            table.rename_column("n", "S")
        table.drop_constraint("c")
        table.drop_column("s")
        with pytest.raises(ColumnInUseError, match="last"):
            table.drop_column("n")

    def test_of_a_table_without_mapping_stay(self) -> None:
        table = TableBuilder().build()

        with pytest.raises(ProtocolUpgradeError, match="columnMapping"):
            table.rename_column("s", "t")


class TestTheMode:
    def test_is_turned_on_for_files_that_are_there(self) -> None:
        table = TableBuilder().partitioned_by("p").rows(ROWS).build()
        table.upgrade_protocol(reader=2, writer=5)
        table.set_properties({MODE: "name"})

        assert stored_names(table) == {"n": "n", "s": "s", "p": "p"}
        assert highest(table) == "3"
        table.rename_column("s", "t")
        table.append(pa.table({"n": [4], "t": ["d"], "p": ["x"]}))
        assert numbers(table) == [1, 2, 3, 4]
        definition = table.definition()
        assert table_schema(definition.protocol, definition.metadata).names == (
            "n", "t", "p",
        )  # fmt: skip

    @pytest.mark.parametrize(("before", "after"), [("name", "id"), ("id", "none")])
    def test_does_not_change(self, before: str, after: str) -> None:
        table = TableBuilder().property(MODE, before).build()

        with pytest.raises(PropertyError, match=MODE):
            table.set_properties({MODE: after})
        with pytest.raises(PropertyError, match=MODE):
            table.unset_properties([MODE])
        with pytest.raises(PropertyError, match="by themselves"):
            table.set_properties({"delta.columnMapping.maxColumnId": "1"})
