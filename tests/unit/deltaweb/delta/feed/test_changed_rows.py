from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from deltaweb.delta.errors import (
    ColumnNotFoundError,
    LogCorruptError,
    PathEscapesTableError,
    UnsupportedFeatureError,
    VersionNotFoundError,
)
from deltaweb.delta.feed import (
    FeedFileMissingError,
    FeedOffError,
    FeedRangeError,
    FeedSchemaError,
)
from deltaweb.delta.scan.predicate import Comparison
from tests.support import cases
from tests.support.tables.fed_table import (
    FEED_ON,
    MINUTE_MS,
    START_MS,
    FedTable,
    change,
    numbers,
)

START = datetime.fromtimestamp(START_MS / 1_000, UTC)
MINUTE = timedelta(milliseconds=MINUTE_MS)


@pytest.fixture
def fed() -> FedTable:
    """1 and 2 are inserted; 1 becomes 5; the file with both goes away."""
    fed = FedTable({"n": "long"})
    fed.commit(fed.add("a", numbers(1, 2)))
    kinds = ["update_preimage", "update_postimage"]
    fed.commit(
        fed.remove("a"),
        fed.add("b", numbers(5, 2)),
        fed.cdc("_change_data/c", numbers(1, 5, _change_type=kinds)),
    )
    fed.commit(fed.remove("b"))
    return fed


class TestChanges:
    def test_are_those_of_each_version_in_order(self, fed: FedTable) -> None:
        assert fed.changes() == [
            change(1, "insert", 1),
            change(2, "insert", 1),
            change(1, "update_preimage", 2),
            change(5, "update_postimage", 2),
            change(5, "delete", 3),
            change(2, "delete", 3),
        ]

    def test_have_the_time_of_their_commit(self, fed: FedTable) -> None:
        rows = fed.table.changes(2, 3).read_all()

        times = dict(
            zip(
                rows["_commit_version"].to_pylist(),
                rows["_commit_timestamp"].to_pylist(),
                strict=True,
            )
        )
        assert times == {2: START + 2 * MINUTE, 3: START + 3 * MINUTE}

    def test_that_are_none_have_a_schema(self, fed: FedTable) -> None:
        reader = fed.table.changes(0, 0)

        assert reader.schema.names == [
            "n",
            "_change_type",
            "_commit_version",
            "_commit_timestamp",
        ]
        assert reader.read_all().num_rows == 0

    def test_of_rewritten_files_are_none(self, fed: FedTable) -> None:
        fed.commit(fed.add("c", numbers(7)))
        version = fed.commit(
            fed.remove("c", dataChange=False),
            fed.add("d", numbers(7), dataChange=False),
        )

        assert fed.changes(version) == []

    def test_hold_only_the_columns_that_are_wanted(self, fed: FedTable) -> None:
        rows = fed.table.changes(1, 1, columns=["_commit_version"]).read_all()

        assert rows.column_names == [
            "_commit_version",
            "_change_type",
            "_commit_timestamp",
        ]
        assert rows.num_rows == 2

    @cases(
        "predicate",
        {
            "Arrow": (pc.field("_commit_version") > 1) & (pc.field("n") == 5),
            "SQL": "_commit_version > 1 AND n = 5",
        },
    )
    def test_are_filtered_by_any_column(self, fed, predicate):
        assert fed.changes(predicate=predicate) == [
            change(5, "update_postimage", 2),
            change(5, "delete", 3),
        ]

    def test_of_other_versions_are_not_read_for_a_condition(self, fed: FedTable):
        fed.lose("a")
        newest = Comparison(("_commit_version",), ">=", pa.scalar(3))

        assert len(fed.changes(predicate=newest)) == 2

    def test_keep_partitions_of_files_that_are_gone(self) -> None:
        fed = FedTable({"n": "long", "p": "date"}, partitions=("p",))
        day = {"partitionValues": {"p": "2024-02-29"}}
        fed.commit(fed.add("a", numbers(1), **day))
        fed.commit(
            fed.remove("a", **day),
            fed.cdc("c", numbers(1, _change_type=["delete"]), **day),
        )

        rows = fed.table.changes(1, 2).read_all()

        assert [str(day) for day in rows["p"].to_pylist()] == ["2024-02-29"] * 2
        assert rows["_change_type"].to_pylist() == ["insert", "delete"]


class TestRange:
    def test_goes_by_times(self, fed: FedTable) -> None:
        kinds = {
            row["_commit_version"]
            for row in fed.changes(
                start_timestamp=START + timedelta(milliseconds=1),
                end_timestamp=START + 2 * MINUTE + timedelta(seconds=1),
            )
        }

        assert kinds == {1, 2}

    @cases(
        "start, end",
        {
            "after the newest": (START + 4 * MINUTE, None),
            "before the earliest": (None, START - MINUTE),
            "between two": (START + MINUTE / 3, START + MINUTE / 2),
        },
    )
    def test_without_a_version_is_refused(self, fed, start, end):
        with pytest.raises(FeedRangeError):
            fed.table.changes(start_timestamp=start, end_timestamp=end)

    def test_that_ends_before_it_begins_is_refused(self, fed: FedTable) -> None:
        with pytest.raises(FeedRangeError, match="begins at version 3"):
            fed.table.changes(3, 2)

    @pytest.mark.parametrize("versions", [(0, 4), (7, None), (-1, 2)])
    def test_beyond_the_log_names_the_version(self, fed, versions):
        with pytest.raises(VersionNotFoundError):
            fed.table.changes(*versions)

    def test_with_a_commit_that_is_gone_names_it(self, fed: FedTable) -> None:
        del fed.store.log_files[f"{2:020d}.json"]

        with pytest.raises(VersionNotFoundError) as caught:
            fed.table.changes(1, 3)

        assert caught.value.version == 2

    def test_has_a_version_or_a_time(self, fed: FedTable) -> None:
        with pytest.raises(ValueError, match="not both"):
            fed.table.changes(1, start_timestamp=START)


class TestRefusals:
    def test_of_a_version_that_records_none_name_it(self, fed: FedTable) -> None:
        off = fed.commit(fed.metadata({"n": "long"}, properties={}))
        fed.commit(fed.metadata({"n": "long"}))

        with pytest.raises(FeedOffError) as caught:
            fed.table.changes(2)

        assert caught.value.version == off
        assert fed.changes(off + 1) == []

    def test_of_a_feed_that_is_off_at_the_start(self) -> None:
        fed = FedTable({"n": "long"}, properties={})
        fed.commit(fed.metadata({"n": "long"}))

        with pytest.raises(FeedOffError, match="version 0"):
            fed.table.changes()

    def test_of_a_file_that_is_gone_name_the_version(self, fed: FedTable) -> None:
        fed.lose("_change_data/c")

        with pytest.raises(FeedFileMissingError) as caught:
            fed.changes()

        assert caught.value.version == 2
        assert caught.value.path == "_change_data/c"
        assert len(fed.changes(3)) == 2

    def test_of_a_path_outside_the_table(self, fed: FedTable) -> None:
        cdc = fed.cdc("x", numbers(1, _change_type=["insert"]))
        cdc["cdc"]["path"] = "../x"
        fed.commit(cdc)

        with pytest.raises(PathEscapesTableError):
            fed.changes()

    @cases(
        "action",
        {
            "a file without a path": {"cdc": {"dataChange": False}},
            "a path that is none": {"cdc": {"path": 7}},
            "an add that is none": {"add": 7},
        },
    )
    def test_of_a_broken_action_name_its_commit(self, fed, action):
        version = fed.commit(action)

        with pytest.raises(LogCorruptError, match=f"{version:020d}.json"):
            fed.changes(version - 1, version)

    def test_of_a_removed_file_without_its_partition(self) -> None:
        fed = FedTable({"n": "long", "p": "date"}, partitions=("p",))
        fed.commit({"remove": {"path": "a", "dataChange": True}})

        with pytest.raises(LogCorruptError, match="has no partition values"):
            fed.changes()

    def test_of_features_that_are_not_read(self, fed: FedTable) -> None:
        features = {"readerFeatures": ["new"], "writerFeatures": ["new"]}
        fed.commit(
            {"protocol": {"minReaderVersion": 3, "minWriterVersion": 7, **features}}
        )

        with pytest.raises(UnsupportedFeatureError, match="new"):
            fed.table.changes(1)
        assert len(fed.changes(1, 3)) == 6

    def test_of_an_unknown_column(self, fed: FedTable) -> None:
        with pytest.raises(ColumnNotFoundError):
            fed.table.changes(columns=["m"])


class TestSchema:
    def test_is_the_newest_one(self, fed: FedTable) -> None:
        fed.commit(fed.metadata({"n": "long", "more": "string"}))

        assert fed.table.changes(1, 1).read_all().to_pylist()[0]["more"] is None

    def test_may_widen(self) -> None:
        fed = FedTable({"n": "integer"})
        fed.commit(fed.add("a", pa.table({"n": pa.array([1], pa.int32())})))
        fed.commit(fed.metadata({"n": "long"}))

        assert fed.changes(0) == [change(1, "insert", 1)]
        assert fed.table.changes(0, 1).schema.field("n").type == pa.int64()

    @cases(
        "columns, reason",
        {
            "dropped": ({"m": "long"}, "has the column n"),
            "retyped": ({"n": "string"}, "type of the column n"),
            "narrowed": ({"n": "integer"}, "type of the column n"),
            "not nullable any more": (
                {"n": {"name": "n", "type": "long", "nullable": False, "metadata": {}}},
                "can be null",
            ),
        },
    )
    def test_that_does_not_fit_names_the_version(self, fed, columns, reason):
        fed.commit(fed.metadata(columns))

        with pytest.raises(FeedSchemaError, match=reason) as caught:
            fed.table.changes(1)

        assert caught.value.version == 3
        assert "up to version 3 " in caught.value.message
        assert caught.value.hint == "Ask for the changes from version 4 on."
        assert fed.changes(4) == []

    def test_that_fits_nowhere_in_the_range_asks_for_later_versions(self, fed):
        fed.commit(fed.metadata({"m": "long"}))

        with pytest.raises(FeedSchemaError) as caught:
            fed.table.changes(1, 2)

        assert "at version 1 it has the column n" in caught.value.message
        assert "later versions" in caught.value.hint

    def test_without_room_for_the_columns_of_the_feed_is_refused(self) -> None:
        fed = FedTable({"_Change_Type": "string"})

        with pytest.raises(FeedSchemaError, match="_change_type"):
            fed.table.changes()


def test_partitions_may_not_change_within_a_range(fed: FedTable) -> None:
    fed.partitions = ("n",)
    version = fed.commit(fed.metadata({"n": "long"}, FEED_ON))

    with pytest.raises(FeedSchemaError, match="partitioned"):
        fed.table.changes(1)
    assert fed.changes(version) == []
