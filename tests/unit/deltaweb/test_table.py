import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from deltaweb.delta.errors import (
    DataFileMissingError,
    LocationInvalidError,
    LocationNotFoundError,
    LogCorruptError,
    PropertyError,
    SchemaMissingError,
    TableNotFoundError,
    TimestampNotFoundError,
    UnsupportedFeatureError,
    UnsupportedProtocolError,
    VersionNotFoundError,
)
from deltaweb.delta.log.commits.tail import HELD_BYTES
from deltaweb.delta.log.segment import VersionRun
from deltaweb.table import DeltaTable
from tests.support.logs.delta_logs import (
    LogBuilder,
    add,
    commit_bytes,
    deletion_vector,
    metadata,
    own_time,
    protocol,
    remove,
)


def moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, tz=UTC)


@pytest.fixture
def builder() -> LogBuilder:
    """Three versions, at 10, 20 and 30 seconds after the epoch."""
    builder = LogBuilder().start(add("a")).commit(1, add("b")).commit(2, remove("a"))
    return builder.time(0, 10_000).time(1, 20_000).time(2, 30_000)


class TestLocation:
    def test_is_not_looked_at_before_it_is_asked(self, tmp_path: Path) -> None:
        table = DeltaTable(str(tmp_path / "later"))
        (tmp_path / "later" / "_delta_log").mkdir(parents=True)
        commit = tmp_path / "later" / "_delta_log" / f"{0:020d}.json"
        commit.write_bytes(commit_bytes(protocol(), metadata(), add("a")))

        assert table.snapshot().num_files == 1

    def test_that_does_not_exist_is_told_from_one_that_is_no_table(self, tmp_path):
        with pytest.raises(LocationNotFoundError):
            DeltaTable(str(tmp_path / "nothing")).snapshot()
        with pytest.raises(TableNotFoundError):
            DeltaTable(str(tmp_path)).snapshot()

    @pytest.mark.parametrize(
        "ask",
        [
            lambda table: table.latest_version(),
            lambda table: table.readable_versions(),
            lambda table: table.history(),
            lambda table: list(table.commit_summaries()),
            lambda table: table.read_commit(0),
            lambda table: table.snapshot(0),
            lambda table: table.snapshot(timestamp="2026-01-31T12:00:00Z"),
            lambda table: table.snapshot_metadata(),
        ],
    )
    def test_without_a_table_is_the_same_error_for_every_question(self, tmp_path, ask):
        assert callable(ask)
        with pytest.raises(TableNotFoundError):
            ask(DeltaTable(str(tmp_path)))

    def test_may_be_a_url_of_a_file(self, tmp_path: Path) -> None:
        assert DeltaTable(f"file://{tmp_path}/a%20b").root == f"{tmp_path}/a b"

    def test_is_refused_where_it_is_none(self) -> None:
        with pytest.raises(LocationInvalidError):
            DeltaTable("")


class TestVersion:
    @pytest.mark.parametrize("version", [-1, 3, 2**63])
    def test_outside_tells_the_range(self, builder: LogBuilder, version: int) -> None:
        with pytest.raises(VersionNotFoundError, match="from 0 to 2"):
            builder.table.snapshot(version)

    def test_of_a_commit_that_is_not_there(self, builder: LogBuilder) -> None:
        with pytest.raises(VersionNotFoundError, match="from 0 to 2"):
            builder.table.read_commit(7)

    def test_runs_of_readable_ones(self, builder: LogBuilder) -> None:
        builder.commit(5)

        assert builder.table.readable_versions() == [VersionRun(0, 2)]


class TestTimestamp:
    @pytest.mark.parametrize(
        ("seconds", "version"),
        [(10, 0), (19.999, 0), (20, 1), (29, 1), (30, 2), (10**9, 2)],
    )
    def test_is_the_newest_version_before_it(self, builder, seconds, version):
        snapshot = builder.table.snapshot(timestamp=moment(seconds))

        assert snapshot.version == version

    def test_may_be_text(self, builder: LogBuilder) -> None:
        assert (
            builder.table.snapshot(timestamp="1970-01-01T01:00:20+01:00").version == 1
        )

    def test_before_the_log_tells_the_range(self, builder: LogBuilder) -> None:
        with pytest.raises(TimestampNotFoundError) as caught:
            builder.table.snapshot(timestamp=moment(9.9))

        assert caught.value.earliest == moment(10)
        assert caught.value.latest == moment(30)

    def test_of_a_version_that_was_cleaned_up(self, builder: LogBuilder) -> None:
        builder.checkpoint(1, protocol(), metadata(), add("a"), add("b"))
        builder.delete(f"{0:020d}.json")

        with pytest.raises(TimestampNotFoundError) as caught:
            builder.table.snapshot(timestamp=moment(15))

        assert caught.value.earliest == moment(20)

    def test_of_a_snapshot_is_that_of_its_commit(self, builder: LogBuilder) -> None:
        assert builder.table.snapshot(1).timestamp == moment(20)
        assert builder.time(1, 5_000).table.snapshot(1).timestamp == moment(10.001)

    def test_and_version_do_not_go_together(self, builder: LogBuilder) -> None:
        with pytest.raises(ValueError, match="not both"):
            builder.table.snapshot(version=1, timestamp=moment(20))

    @pytest.mark.parametrize("has_checkpoint", [False, True])
    def test_is_of_the_commits_from_the_version_on_that_enabled_it(
        self, builder: LogBuilder, *, has_checkpoint: bool
    ) -> None:
        properties = {
            "delta.enableInCommitTimestamps": "true",
            "delta.inCommitTimestampEnablementVersion": "3",
            "delta.inCommitTimestampEnablementTimestamp": "40000",
        }
        features = protocol(1, 7, writerFeatures=["inCommitTimestamp"])
        builder.commit(
            3, own_time(40_000), metadata(configuration=properties), features
        )
        builder.commit(4, own_time(50_000))
        for version in (3, 4):  # as a copy has it
            builder.time(version, 90_000)
        if has_checkpoint:
            builder.checkpoint(2, protocol(), metadata())

        found = [
            builder.table.snapshot(timestamp=moment(at)).version
            for at in (10, 39.999, 40, 49.999, 50, 60)
        ]

        assert found == [0, 2, 3, 3, 4, 4]
        assert builder.table.snapshot(3).timestamp == moment(40)
        times = [entry.timestamp for entry in builder.table.history()]
        assert times == [*map(moment, (50, 40, 30, 20, 10))]

    def test_of_a_copy_before_the_commits_had_it_is_that_of_its_files(self, builder):
        properties = {
            "delta.enableInCommitTimestamps": "true",
            "delta.inCommitTimestampEnablementVersion": "3",
            "delta.inCommitTimestampEnablementTimestamp": "40000",
        }
        features = protocol(1, 7, writerFeatures=["inCommitTimestamp"])
        builder.commit(
            3, own_time(40_000), metadata(configuration=properties), features
        )
        for version in range(4):
            builder.time(version, 90_000)

        assert builder.table.snapshot(timestamp=moment(95)).version == 3
        with pytest.raises(TimestampNotFoundError):
            builder.table.snapshot(timestamp=moment(39))

    def test_is_of_the_file_of_a_commit_that_carries_none(self, builder: LogBuilder):
        properties = {"delta.enableInCommitTimestamps": "true"}
        features = protocol(1, 7, writerFeatures=["inCommitTimestamp"])
        builder.commit(3, metadata(configuration=properties), features)
        builder.commit(4, own_time(50_000)).time(3, 40_000)

        assert builder.table.snapshot(3).timestamp == moment(40)
        assert builder.table.snapshot(timestamp=moment(60)).version == 4

    def test_is_of_the_files_again_once_the_commits_no_longer_have_it(self, builder):
        properties = {"delta.enableInCommitTimestamps": "true"}
        features = protocol(1, 7, writerFeatures=["inCommitTimestamp"])
        builder.commit(3, metadata(configuration=properties), features)
        builder.commit(4, metadata()).time(3, 40_000).time(4, 50_000)

        assert builder.table.snapshot(timestamp=moment(45)).version == 3

    def test_is_of_the_files_where_the_protocol_knows_no_times_in_commits(
        self, builder: LogBuilder
    ) -> None:
        properties = {"delta.enableInCommitTimestamps": "true"}
        builder.commit(3, metadata(configuration=properties)).time(3, 40_000)

        assert builder.table.snapshot(timestamp=moment(50)).version == 3


class TestRefusedVersion:
    @pytest.fixture
    def refused(self, builder: LogBuilder) -> LogBuilder:
        return builder.commit(3, protocol(4, 7), add("new"))

    def test_is_refused_while_older_ones_are_read(self, refused: LogBuilder) -> None:
        with pytest.raises(UnsupportedProtocolError):
            refused.table.snapshot()
        assert refused.table.snapshot(2).num_files == 1

    def test_still_shows_its_metadata_and_log(self, refused: LogBuilder) -> None:
        snapshot = refused.table.snapshot_metadata()

        assert isinstance(snapshot.refusal, UnsupportedProtocolError)
        assert snapshot.metadata.id == "table"
        assert snapshot.protocol.min_reader_version == 4
        assert sorted(snapshot.files["path"].to_pylist()) == ["b", "new"]
        with pytest.raises(UnsupportedProtocolError):
            snapshot.read()
        assert len(refused.table.history()) == 4

    def test_without_a_schema(self) -> None:
        table = LogBuilder().start(add("a"), schemaString=None).table

        with pytest.raises(SchemaMissingError):
            table.snapshot()
        assert table.snapshot_metadata().num_files == 1
        with pytest.raises(SchemaMissingError):
            _ = table.snapshot_metadata().schema

    def test_with_deletion_vectors_beside_its_protocol(self) -> None:
        vector = deletion_vector("v")
        table = LogBuilder().start(add("a", deletionVector=vector)).table

        # A vector is there for a reason, whether the protocol lists it or not.
        assert table.snapshot().files["dv_id"].to_pylist() == ["uv"]
        with pytest.raises(DataFileMissingError):
            table.snapshot().read()

    def test_with_files_of_another_format(self) -> None:
        table = LogBuilder().start(add("a"), format={"provider": "orc"}).table

        with pytest.raises(UnsupportedFeatureError, match="orc"):
            table.snapshot().read()


@pytest.mark.parametrize("provider", ["parquet", "Parquet", None])
def test_rows_of_parquet_are_read_however_the_log_spells_it(provider: str | None):
    table = LogBuilder().start(format={"provider": provider}).table

    assert table.snapshot().read().num_rows == 0


class TestMappingProperty:
    """The names of `delta.columnMapping.mode`, with and without its protocol."""

    @pytest.fixture
    def mapped(self) -> dict[str, object]:
        physical = {"delta.columnMapping.physicalName": "col-p"}
        fields = [{"name": "p", "type": "string", "metadata": physical}]
        return {
            "schemaString": json.dumps({"type": "struct", "fields": fields}),
            "partitionColumns": ["p"],
            "configuration": {"delta.columnMapping.mode": "name"},
        }

    def test_are_ignored_by_a_protocol_that_does_not_know_it(self, mapped):
        builder = LogBuilder().start(add("a", partitionValues={"p": "1"}), **mapped)
        before = builder.table.snapshot()
        builder.commit(1, add("b", partitionValues={"p": "2"}))

        for snapshot in (builder.table.snapshot(), builder.table.refresh(before)):
            values = snapshot.files["partition_values"].to_pylist()
            assert values == [[("p", "1")], [("p", "2")]]

    def test_are_the_keys_of_partition_values_under_one_that_does(self, mapped):
        builder = LogBuilder().start(**mapped)
        builder.commit(1, protocol(2, 5), add("a", partitionValues={"col-p": "1"}))

        files = builder.table.snapshot_metadata().files

        assert files["partition_values"].to_pylist() == [[("col-p", "1")]]


class TestTombstones:
    def test_expire_by_the_property_of_the_table(self) -> None:
        properties = {"delta.deletedFileRetentionDuration": "interval 10 seconds"}
        builder = LogBuilder().start(configuration=properties)
        builder.commit(
            1,
            remove("old", deletionTimestamp=9_999),
            remove("new", deletionTimestamp=10_000),
            {"remove": {"path": "never"}},
        )

        snapshot = builder.table.snapshot()

        kept = snapshot.unexpired_tombstones(moment(20))
        assert kept["path"].to_pylist() == ["new"]
        assert snapshot.tombstones.num_rows == 3

    def test_are_not_expired_by_guessing(self) -> None:
        properties = {"delta.deletedFileRetentionDuration": "a while"}
        snapshot = LogBuilder().start(configuration=properties).table.snapshot()

        with pytest.raises(PropertyError):
            snapshot.unexpired_tombstones(moment(20))


class TestStatistics:
    def test_are_typed_and_kept(self) -> None:
        stats = '{"numRecords":2,"minValues":{"id":"a"},"maxValues":{"id":"b"}}'
        snapshot = LogBuilder().start(add("x", stats=stats), add("y")).table.snapshot()

        found = snapshot.statistics(["id"])

        assert found["num_records"].to_pylist() == [2, None]
        assert found["min"].to_pylist()[0] == {"id": "a"}
        assert snapshot.statistics(["id"]) is found
        assert snapshot.statistics([("id",)]).num_rows == 2

    def test_of_a_commit_that_is_gone_are_an_error_of_ours(self) -> None:
        # Statistics of a shorter log are held.
        note = {"commitInfo": {"note": "x" * HELD_BYTES}}
        builder = LogBuilder().start(note, add("x"))
        snapshot = builder.table.snapshot()
        builder.delete(f"{0:020d}.json")

        with pytest.raises(LogCorruptError, match="disappeared"):
            snapshot.statistics()

    def test_after_a_clean_up_are_those_of_the_checkpoint(self, tmp_path: Path) -> None:
        rows = pa.table({"id": pa.array([1, 2], pa.int64())})
        table = DeltaTable.create(str(tmp_path), rows.schema)
        for _ in range(3):
            table.append(rows)
        snapshot = table.snapshot()
        first = snapshot.files["path"].to_pylist()
        table.create_checkpoint()
        for version in range(3):
            (tmp_path / "_delta_log" / f"{version:020d}.json").unlink()

        found = snapshot.statistics(["id"])

        assert found["num_records"].to_pylist() == [2, 2, 2]
        assert snapshot.files["path"].to_pylist() == first
        assert table.delete("id % 2 = 0").num_rows_deleted == 3

    def test_of_no_files(self) -> None:
        snapshot = LogBuilder().start().table.snapshot()

        assert snapshot.statistics().num_rows == snapshot.files.num_rows == 0
        assert snapshot.size_bytes == 0
