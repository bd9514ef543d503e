"""The verbs that write rows, on tables in memory and on disk."""

import threading
from pathlib import Path

import deltalake
import polars as pl
import pyarrow as pa
import pytest

from deltaweb.delta.errors import ColumnNotFoundError, PropertyError, SchemaError
from deltaweb.delta.writing.errors import (
    AppendOnlyError,
    CommitConflictError,
    ConstraintViolatedError,
    LocationTakenError,
    SchemaMismatchError,
    UnsupportedWriteError,
)
from deltaweb.expressions.errors import ExpressionError
from deltaweb.table import DeltaTable
from tests.support.stores.memory import MemoryTableStore
from tests.support.tables.table_builder import ROWS, SCHEMA, TableBuilder, numbers

pytestmark = pytest.mark.slow


TABLE = TableBuilder().partitioned_by("p").rows(ROWS)


def num_data_files(table: DeltaTable) -> int:
    return sum(len(some) for some in table.store.list_data_files())


class TestCreate:
    def test_a_table_is_made_with_what_it_is_to_be(self, tmp_path: Path) -> None:
        table = DeltaTable.create(
            str(tmp_path / "t"),
            SCHEMA,
            partition_by=["P"],
            name="orders",
            description="of the shop",
            properties={"delta.constraints.positive": "n > 0"},
        )

        definition = table.definition()
        assert definition.version == 0
        assert definition.metadata.partition_columns == ["p"]
        assert definition.metadata.name == "orders"
        assert definition.protocol.min_writer_version == 3
        assert deltalake.DeltaTable(str(tmp_path / "t")).metadata().name == "orders"

    def test_a_place_with_a_table_is_taken(self, table: DeltaTable) -> None:
        with pytest.raises(LocationTakenError, match="it is a table already"):
            TableBuilder(table.store).build()

    def test_a_place_with_files_is_taken(self) -> None:
        store = MemoryTableStore()
        store.put_data_file("a.parquet", b"")

        with pytest.raises(LocationTakenError, match="there are files"):
            TableBuilder(store).build()

    def test_what_no_table_can_be_is_refused(self) -> None:
        with pytest.raises(ColumnNotFoundError):
            TableBuilder().partitioned_by("q").build()
        with pytest.raises(SchemaError):
            TableBuilder().columns(a="long", A="long").build()
        with pytest.raises(ExpressionError, match="rand"):
            TableBuilder().property("delta.constraints.c", "rand() > 0").build()

    def test_a_time_without_a_zone_asks_for_its_feature(self) -> None:
        table = TableBuilder().columns(a="array<timestamp_ntz>").build()

        protocol = table.definition().protocol
        assert protocol.reader_features == ["timestampNtz"]
        assert "timestampNtz" in (protocol.writer_features or ())

    @pytest.mark.parametrize(
        ("name", "value"),
        [("delta.appendOnly", "perhaps"), ("delta.minWriterVersion", "7")],
    )
    def test_properties_have_values_of_theirs(self, name: str, value: str) -> None:
        with pytest.raises(PropertyError, match=name):
            TableBuilder().property(name, value).build()

    def test_what_a_property_turns_on_is_in_the_protocol_or_refused(self) -> None:
        with pytest.raises(UnsupportedWriteError, match="icebergCompatV2"):
            TableBuilder().property("delta.enableIcebergCompatV2").build()
        builder = TableBuilder().features("vacuumProtocolCheck")
        table = builder.property("delta.appendOnly").build()

        definition = table.definition()
        assert definition.protocol.reader_features == ["vacuumProtocolCheck"]
        assert set(definition.protocol.writer_features or ()) == {
            "vacuumProtocolCheck", "appendOnly", "invariants",
        }  # fmt: skip
        assert dict(definition.metadata.configuration) == {"delta.appendOnly": "true"}


class TestAppend:
    def test_rows_of_any_arrow_stream_are_added(self, table: DeltaTable) -> None:
        reader = pa.RecordBatchReader.from_batches(
            SCHEMA, ROWS.slice(0, 1).cast(SCHEMA).to_batches()
        )
        table.append(reader)
        table.append(pl.DataFrame({"n": [7], "p": ["z"]}))
        result = table.append(ROWS.to_batches()[0])

        assert numbers(table) == [1, 1, 1, 2, 2, 3, 3, 7]
        assert (result.version, result.num_added_files) == (4, 2)
        assert result.num_rows_inserted == 3

    def test_what_is_no_arrow_is_refused(self, table: DeltaTable) -> None:
        with pytest.raises(TypeError, match="'list'"):
            table.append([1])

    def test_rows_that_do_not_fit_leave_nothing(self, table: DeltaTable) -> None:
        before = num_data_files(table)

        with pytest.raises(SchemaMismatchError, match="'extra' is not a column"):
            table.append(pa.table({"n": [1], "extra": [2]}))

        assert table.latest_version() == 1
        assert num_data_files(table) == before

    def test_a_schema_grows_where_it_is_asked_to(self, table: DeltaTable) -> None:
        table.append(pa.table({"n": [9], "extra": [1.5]}), merge_schema=True)

        rows = table.snapshot().read(["n", "extra"]).to_pylist()
        assert {row["n"]: row["extra"] for row in rows} == {
            1: None, 2: None, 3: None, 9: 1.5,
        }  # fmt: skip

    def test_a_transaction_is_done_once(self, table: DeltaTable) -> None:
        assert table.append(ROWS, txn=("app", 5)).version == 2
        assert table.append(ROWS, txn=("app", 5)).version is None
        assert table.append(ROWS, txn=("app", 4)).version is None
        assert table.append(ROWS, txn=("app", 6)).version == 3

    def test_no_rows_make_no_version(self, table: DeltaTable) -> None:
        assert table.append(ROWS.slice(0, 0)).version == 1
        assert table.latest_version() == 1


class TestConstraints:
    def test_a_row_that_is_false_or_unknown_aborts_all(self) -> None:
        table = TableBuilder().property("delta.constraints.positive", "n > 0").build()
        bad = pa.table({"n": [1, -1, None, *range(-10, 0)]})

        with pytest.raises(ConstraintViolatedError) as caught:
            table.append(bad)

        assert caught.value.name == "positive"
        assert caught.value.expression == "n > 0"
        assert [row["n"] for row in caught.value.rows] == [-1, None, -10, -9, -8]
        assert not num_data_files(table)

    def test_an_update_is_held_to_it_too(self) -> None:
        builder = TableBuilder().property("delta.constraints.positive", "n > 0")
        table = builder.rows(ROWS).build()

        with pytest.raises(ConstraintViolatedError):
            table.update({"n": "n - 1"})

        assert numbers(table) == [1, 2, 3]
        assert num_data_files(table) == 1

    def test_null_has_no_place_in_a_column_that_forbids_it(self) -> None:
        ddl = "n BIGINT NOT NULL, x STRUCT<y: BIGINT NOT NULL>"
        table = TableBuilder().columns(ddl).build()

        with pytest.raises(ConstraintViolatedError, match="n IS NOT NULL"):
            table.append(pa.table({"n": [1, None]}))
        with pytest.raises(ConstraintViolatedError, match=r"x\.y IS NOT NULL"):
            table.append(pa.table({"n": [1], "x": [{"y": None}]}))
        rows = pa.table(
            {
                "n": [1, 2],
                "x": pa.array([None, {"y": 1}], pa.struct([("y", pa.int64())])),
            }
        )
        assert table.append(rows).num_rows_inserted == 2

    def test_an_invariant_holds_for_every_row(self) -> None:
        text = '{"expression":{"expression":"n < 5"}}'
        from deltaweb.delta.protocol.schema import (
            PrimitiveType,
            StructField,
            StructType,
        )

        column = StructField(
            "n", PrimitiveType("long"), metadata={"delta.invariants": text}
        )
        table = TableBuilder().columns(StructType((column,))).build()

        with pytest.raises(ConstraintViolatedError, match="n < 5"):
            table.append(pa.table({"n": [5]}))


class TestDelete:
    def test_rows_of_a_condition_go(self, table: DeltaTable) -> None:
        result = table.delete("n = 1")

        assert numbers(table) == [2, 3]
        assert result.metrics["numDeletedRows"] == 1
        assert result.metrics["numCopiedRows"] == 1
        assert (result.num_added_files, result.num_removed_files) == (1, 1)

    def test_whole_files_go_unread(self, table: DeltaTable) -> None:
        assert isinstance(table.store, MemoryTableStore)
        table.store.data_files.clear()  # none can be opened

        result = table.delete("p = 'x'")

        assert result.metrics["numDeletedRows"] == 2
        assert (result.num_added_files, result.num_removed_files) == (0, 1)

    def test_a_file_that_loses_every_row_is_not_written_again(self) -> None:
        table = TableBuilder().rows(n=[1, 2]).rows(n=[4, 5]).build()

        result = table.delete("n > 3")

        assert (result.num_added_files, result.num_removed_files) == (0, 1)
        assert numbers(table) == [1, 2]

    def test_unknown_is_not_true(self, table: DeltaTable) -> None:
        table.delete("s <> 'a'")

        assert numbers(table) == [1, 3]

    def test_nothing_to_delete_makes_no_version(self, table: DeltaTable) -> None:
        result = table.delete("n = 99")

        assert (result.version, table.latest_version()) == (1, 1)
        assert result.num_removed_files == 0

    def test_all_rows_go_without_a_condition(self, table: DeltaTable) -> None:
        assert table.delete().metrics["numDeletedRows"] == 3
        assert numbers(table) == []

    def test_a_table_that_only_grows_refuses(self) -> None:
        table = TableBuilder().property("delta.appendOnly").rows(ROWS).build()

        with pytest.raises(AppendOnlyError):
            table.delete("n = 1")
        with pytest.raises(AppendOnlyError):
            table.update({"n": "0"})
        with pytest.raises(AppendOnlyError):
            table.overwrite(ROWS)

        assert num_data_files(table) == 1


class TestUpdate:
    def test_columns_take_values_from_the_old_ones(self, table: DeltaTable) -> None:
        result = table.update({"N": "n * 10", "s": "concat(s, p)"}, "p = 'x'")

        rows = sorted(
            tuple(row.values()) for row in table.snapshot().read().to_pylist()
        )
        assert rows == [(2, "b", "y"), (10, "ax", "x"), (30, None, "x")]
        assert result.metrics["numUpdatedRows"] == 2
        assert result.metrics["numCopiedRows"] == 0

    def test_rows_stay_in_their_order_among_others(self) -> None:
        table = TableBuilder().rows(n=range(10)).build()

        table.update({"n": "-n"}, "n % 3 = 1")

        assert table.snapshot().read()["n"].to_pylist() == [
            0, -1, 2, 3, -4, 5, 6, -7, 8, 9,
        ]  # fmt: skip

    def test_a_row_may_move_to_another_partition(self, table: DeltaTable) -> None:
        table.update({"p": "'z'"}, "n = 1")

        assert table.snapshot().read(["n"], "p = 'z'").to_pylist() == [{"n": 1}]

    def test_what_is_not_evaluated_here_is_refused_by_name(self, table: DeltaTable):
        with pytest.raises(ExpressionError, match="sha2"):
            table.update({"s": "sha2(s, 256)"})
        with pytest.raises(ColumnNotFoundError):
            table.update({"nothing": "1"})

    def test_of_two_at_once_one_gives_way(self, tmp_path: Path) -> None:
        place = str(tmp_path / "t")
        DeltaTable.create(place, pa.schema([("n", pa.int64())])).append(
            pa.table({"n": [0]})
        )
        done = []

        def count_up() -> None:
            for _ in range(5):
                while True:
                    try:
                        DeltaTable(place).update({"n": "n + 1"})
                    except CommitConflictError:
                        continue
                    done.append(1)
                    break

        threads = [threading.Thread(target=count_up) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert numbers(DeltaTable(place)) == [len(done)] == [15]


class TestOverwrite:
    def test_rows_take_the_place_of_all_others(self, table: DeltaTable) -> None:
        result = table.overwrite(pa.table({"n": [9], "p": ["z"]}))

        assert numbers(table) == [9]
        assert (result.num_added_files, result.num_removed_files) == (1, 2)

    def test_rows_take_the_place_of_those_of_a_condition(self, table: DeltaTable):
        table.overwrite(pa.table({"n": [20], "p": ["x"]}), where="n >= 3")

        assert numbers(table) == [1, 2, 20]

    def test_new_rows_must_satisfy_the_condition(self, table: DeltaTable) -> None:
        with pytest.raises(ConstraintViolatedError, match="replaceWhere"):
            table.overwrite(pa.table({"n": [1], "p": ["x"]}), where="n >= 3")

        assert numbers(table) == [1, 2, 3]

    def test_nothing_goes_from_a_table_without_files_when_dynamic(self) -> None:
        table = TableBuilder().partitioned_by("p").build()

        result = table.overwrite(ROWS, dynamic=True)

        assert (result.version, result.num_removed_files) == (1, 0)
        assert numbers(table) == [1, 2, 3]

    def test_only_partitions_of_new_rows_go_when_dynamic(self, table: DeltaTable):
        table.overwrite(pa.table({"n": [9], "p": ["x"]}), dynamic=True)

        assert numbers(table) == [2, 9]

    def test_the_schema_is_replaced_where_it_is_asked_to(self, table: DeltaTable):
        table.overwrite(pa.table({"a": [1.5], "p": ["x"]}), overwrite_schema=True)

        assert table.snapshot().read().to_pylist() == [{"a": 1.5, "p": "x"}]
        with pytest.raises(SchemaMismatchError, match="partition column"):
            table.overwrite(pa.table({"a": [1.5]}), overwrite_schema=True)
