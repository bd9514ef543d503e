"""The verbs of a table that change what it is, and write no rows."""

from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.errors import (
    ColumnNotFoundError,
    PropertyError,
    UnknownPropertyError,
)
from deltaweb.delta.writing.commit import commit
from deltaweb.delta.writing.errors import (
    CommitConflictError,
    ConstraintNameError,
    ConstraintViolatedError,
    ProtocolUpgradeError,
    SchemaMismatchError,
    UnsupportedWriteError,
)
from deltaweb.table import DeltaTable
from tests.support.stores.memory import MemoryTableStore
from tests.support.tables.written_tables import (
    AT_ONCE,
    PROTOCOL,
    added,
    create,
    on_newest,
)


def append(store: MemoryTableStore, path: str, xs: list[int | None]) -> None:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"x": pa.array(xs, pa.int64())}), sink)
    store.put_data_file(path, sink.getvalue().to_pybytes())
    commit(store, on_newest(store, added=added((path, "a", 0, 100))), policy=AT_ONCE)


@pytest.fixture
def store() -> MemoryTableStore:
    made = MemoryTableStore()
    create(made, protocol=replace(PROTOCOL, min_writer_version=3))
    return made


@pytest.fixture
def table(store: MemoryTableStore) -> DeltaTable:
    return DeltaTable.from_store(store)


def configuration(table: DeltaTable) -> dict[str, str]:
    return dict(table.definition().metadata.configuration)


class TestProperties:
    def test_are_set_and_unset(self, table: DeltaTable) -> None:
        first = table.set_properties({"delta.appendOnly": "true", "team": "blue"})
        again = table.set_properties({"team": "blue"})
        last = table.unset_properties(["delta.appendOnly", "nothing"])

        assert (first.version, again.version, last.version) == (1, 1, 2)
        assert configuration(table) == {"team": "blue"}
        assert table.history()[0].operation == "UNSET TBLPROPERTIES"

    @pytest.mark.parametrize(
        ("name", "meant"),
        [
            ("delta.appendonly", "delta.appendOnly"),
            ("delta.logRetention", "delta.logRetentionDuration"),
            ("Delta.targetfilesize", "delta.targetFileSize"),
            ("delta.enableChangeDataFeeds", "delta.enableChangeDataFeed"),
        ],
    )
    def test_that_delta_does_not_know_are_refused_with_the_nearest(
        self, table: DeltaTable, name: str, meant: str
    ) -> None:
        with pytest.raises(UnknownPropertyError) as caught:
            table.set_properties({name: "true"})

        assert caught.value.meant == meant
        assert repr(meant) in caught.value.hint

    def test_of_ones_own_and_of_other_engines_are_kept(self, table: DeltaTable) -> None:
        others = {"deltaweb.team": "a", "delta.universalFormat.enabledFormats": ""}

        table.set_properties(others)

        assert configuration(table) == others
        table.unset_properties(["delta.nobodyKnows"])

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("delta.appendOnly", "yes"),
            ("delta.checkpointInterval", "0"),
            ("delta.logRetentionDuration", "1 month"),
            ("delta.isolationLevel", "None"),
            ("delta.constraints.a", "x > 0"),
            ("delta.minWriterVersion", "7"),
        ],
    )
    def test_have_values_of_theirs(self, table: DeltaTable, name: str, value: str):
        with pytest.raises(PropertyError, match=name):
            table.set_properties({name: value})

    @pytest.mark.parametrize(
        ("name", "value", "feature"),
        [
            ("delta.enableChangeDataFeed", "true", "changeDataFeed"),
            ("delta.enableDeletionVectors", "true", "deletionVectors"),
            ("delta.columnMapping.mode", "name", "columnMapping"),
        ],
    )
    def test_turn_nothing_on_in_passing(self, table, name, value, feature):
        with pytest.raises(ProtocolUpgradeError, match=feature):
            table.set_properties({name: value})

    def test_of_a_table_that_changed_meanwhile_conflict(self, store, table):
        metadata = replace(table.definition().metadata, description="ours")
        ours = on_newest(store, operation="OURS", metadata=metadata)
        table.set_properties({"team": "blue"})

        with pytest.raises(CommitConflictError) as caught:
            commit(store, ours, policy=AT_ONCE)

        assert caught.value.kind == "metadata"


class TestColumns:
    def test_are_added_at_the_end(self, store: MemoryTableStore, table: DeltaTable):
        append(store, "f", [1])

        table.add_columns("note STRING COMMENT 'said', n INT")
        table.add_columns([pa.field("z", pa.float64())])

        rows = table.snapshot().read().to_pylist()
        assert rows == [{"p": "a", "x": 1, "note": None, "n": None, "z": None}]
        assert table.snapshot().schema.fields[2].metadata == {"comment": "said"}

    def test_that_do_not_fit_are_all_named(self, table: DeltaTable) -> None:
        with pytest.raises(SchemaMismatchError) as caught:
            table.add_columns("X INT, y INT NOT NULL, z INT")

        assert set(caught.value.misfits) == {"X", "y"}

    def test_of_a_type_that_the_protocol_does_not_know_need_an_upgrade(self, table):
        with pytest.raises(ProtocolUpgradeError, match="timestampNtz"):
            table.add_columns("t TIMESTAMP_NTZ")

    def test_are_described(self, table: DeltaTable) -> None:
        table.set_comment("the number", column="X")
        table.set_comment("all of it")
        same = table.set_comment("all of it")

        assert table.snapshot().schema.fields[1].metadata == {"comment": "the number"}
        assert table.definition().metadata.description == "all of it"
        assert same.version == 2
        with pytest.raises(ColumnNotFoundError):
            table.set_comment("nothing", column="nothing")


class TestConstraints:
    def test_are_added_once_they_hold(self, store: MemoryTableStore, table: DeltaTable):
        append(store, "f", [1, 2])

        table.add_constraint("Positive", "x > 0")

        assert configuration(table) == {"delta.constraints.positive": "x > 0"}
        with pytest.raises(ConstraintNameError, match="taken"):
            table.add_constraint("positive", "x > 1")
        table.drop_constraint("POSITIVE")
        assert configuration(table) == {}
        with pytest.raises(ConstraintNameError, match="no constraint"):
            table.drop_constraint("positive")

    @pytest.mark.parametrize("x", [-1, None])
    def test_that_rows_break_are_refused(self, store, table, x):
        append(store, "f", [1, x])

        with pytest.raises(ConstraintViolatedError) as caught:
            table.add_constraint("positive", "x > 0")

        assert caught.value.rows == [{"p": "a", "x": x}]
        assert configuration(table) == {}

    def test_mean_the_same_where_they_are_added_and_where_rows_are_written(
        self, store: MemoryTableStore, table: DeltaTable
    ) -> None:
        append(store, "f", [3])

        with pytest.raises(ConstraintViolatedError):
            table.add_constraint("even", "x % 2 = 0")
        table.add_constraint("odd", "x % 2 = 1")
        with pytest.raises(ConstraintViolatedError, match="odd"):
            table.append(pa.table({"p": ["a"], "x": [4]}))


class TestTheProtocol:
    def test_goes_up(self, table: DeltaTable) -> None:
        table.upgrade_protocol(reader=3, writer=7)
        table.set_properties({"delta.feature.vacuumProtocolCheck": "supported"})

        protocol = table.definition().protocol
        assert protocol.min_writer_version == 7
        assert list(protocol.reader_features or ()) == ["vacuumProtocolCheck"]
        assert list(protocol.writer_features or ()) == [
            "appendOnly",
            "invariants",
            "checkConstraints",
            "vacuumProtocolCheck",
        ]

    def test_lists_for_readers_what_they_have_to_know(self, table: DeltaTable) -> None:
        table.upgrade_protocol(writer=7)

        with pytest.raises(ProtocolUpgradeError, match="to reader 3, writer 7"):
            table.set_properties({"delta.feature.v2Checkpoint": "supported"})

    @pytest.mark.parametrize(
        ("change", "kind"),
        [
            (lambda table: table.upgrade_protocol(writer=2), ProtocolUpgradeError),
            (lambda table: table.upgrade_protocol(reader=3), ProtocolUpgradeError),
            (lambda table: table.upgrade_protocol(writer=8), UnsupportedWriteError),
            (
                lambda table: table.set_properties({"delta.feature.a": "supported"}),
                ProtocolUpgradeError,
            ),
        ],
    )
    def test_goes_nowhere_else(self, table, change, kind):
        with pytest.raises(kind):
            change(table)

        assert table.latest_version() == 0
