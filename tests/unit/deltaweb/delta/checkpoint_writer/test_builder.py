import io
import json
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.checkpoint_writer import plan
from deltaweb.delta.checkpoint_writer.parts import split_rows
from deltaweb.delta.errors import (
    CheckpointCancelledError,
    DeltaError,
    LogCorruptError,
    LogGapError,
    PropertyError,
    UnsupportedFeatureError,
    UnsupportedWriterError,
    UnsupportedWriterFeatureError,
    VersionNotFoundError,
)
from deltaweb.delta.log_path import checkpoint_name, checkpoint_part_names, commit_name
from deltaweb.storage.memory import MemoryTableStore
from deltaweb.table import DeltaTable
from tests.delta_logs import (
    LogBuilder,
    add,
    checkpoint_bytes,
    commit_bytes,
    deletion_vector,
    metadata,
    protocol,
    remove,
    txn,
)

WEEK_MS = 7 * 86_400_000
NOW_MS = 100 * WEEK_MS
NOW = datetime.fromtimestamp(NOW_MS / 1000, UTC)
HINT = "_last_checkpoint"


def column(name: str, data_type: object) -> dict[str, Any]:
    return {"name": name, "type": data_type, "nullable": True, "metadata": {}}


def schema_text(*columns: dict[str, Any]) -> str:
    return json.dumps({"type": "struct", "fields": list(columns)})


APPENDIX = schema_text(
    column("date", "date"),
    column("region", "string"),
    column("asset", "string"),
    column("quantity", "double"),
    column("is_available", "boolean"),
)
AS_STRUCT = {"delta.checkpoint.writeStatsAsStruct": "true"}
NOT_AS_JSON = {"delta.checkpoint.writeStatsAsJson": "false"}
STATS = {
    "numRecords": 3,
    "minValues": {"asset": "a", "quantity": 1.5, "is_available": False},
    "maxValues": {"asset": "z", "quantity": 9, "is_available": True},
    "nullCount": {"asset": 0, "quantity": 1, "is_available": 2},
}


def appendix_log(**configuration: str) -> LogBuilder:
    values = {"date": "2024-02-29", "region": ""}
    return LogBuilder().start(
        add("a", partitionValues=values, stats=json.dumps(STATS)),
        add("b", partitionValues={"date": None, "region": "eu"}),
        schemaString=APPENDIX,
        partitionColumns=["date", "region"],
        configuration=configuration,
    )


def read_rows(builder: LogBuilder, name: str = checkpoint_name(0)) -> pa.Table:
    return pq.read_table(io.BytesIO(builder.store.log_files[name]))


def adds_of(table: pa.Table) -> dict[str, dict[str, Any]]:
    rows = table["add"].drop_null().to_pylist(maps_as_pydicts="strict")
    return {row["path"]: row for row in rows}


class TestColumns:
    def test_are_those_of_the_specification(self) -> None:
        log = appendix_log(**AS_STRUCT)

        log.table.create_checkpoint(now=NOW)

        texts = pa.map_(pa.string(), pa.string())
        bounds = pa.struct([("asset", pa.string()), ("quantity", pa.float64())])
        counts = [(name, pa.int64()) for name in ("asset", "quantity", "is_available")]
        schema = read_rows(log).schema
        assert schema.names == ["metaData", "protocol", "txn", "add", "remove"]
        assert schema.field("add").type == pa.struct(
            [
                ("path", pa.string()),
                ("partitionValues", texts),
                ("size", pa.int64()),
                ("modificationTime", pa.int64()),
                ("dataChange", pa.bool_()),
                ("stats", pa.string()),
                ("tags", texts),
                (
                    "partitionValues_parsed",
                    pa.struct([("date", pa.date32()), ("region", pa.string())]),
                ),
                (
                    "stats_parsed",
                    pa.struct(
                        [
                            ("numRecords", pa.int64()),
                            ("minValues", bounds),
                            ("maxValues", bounds),
                            ("nullCount", pa.struct(counts)),
                        ]
                    ),
                ),
            ]
        )
        assert schema.field("remove").type == pa.struct(
            [
                ("path", pa.string()),
                ("deletionTimestamp", pa.int64()),
                ("dataChange", pa.bool_()),
            ]
        )
        assert schema.field("txn").type == pa.struct(
            [("appId", pa.string()), ("version", pa.int64())]
        )
        assert schema.field("protocol").type == pa.struct(
            [("minReaderVersion", pa.int32()), ("minWriterVersion", pa.int32())]
        )
        assert [field.name for field in schema.field("metaData").type] == [
            *("id", "name", "description", "format", "schemaString"),
            *("partitionColumns", "createdTime", "configuration"),
        ]

    def test_have_maps_and_lists_as_parquet_names_them(self) -> None:
        log = appendix_log()

        log.table.create_checkpoint(now=NOW)

        footer = pq.read_metadata(io.BytesIO(log.store.log_files[checkpoint_name(0)]))
        leaves = [footer.schema.column(i).path for i in range(footer.num_columns)]
        assert "add.partitionValues.key_value.key" in leaves
        assert "metaData.partitionColumns.list.element" in leaves
        assert b"ARROW:schema" not in (footer.metadata or {})

    def test_hold_what_later_features_need_only_where_the_log_has_it(self) -> None:
        log = LogBuilder().commit(
            0,
            protocol(1, 7, writerFeatures=["rowTracking", "domainMetadata"]),
            metadata(),
            add("a", baseRowId=5, tags={"k": "v", "none": None}),
            remove("b", deletionTimestamp=NOW_MS, size=4),
            {"txn": {"appId": "x", "version": 1, "lastUpdated": 9}},
            {"domainMetadata": {"domain": "d", "configuration": "c", "removed": False}},
            {"domainMetadata": {"domain": "e", "configuration": "", "removed": True}},
        )

        log.table.create_checkpoint(now=NOW)

        table = read_rows(log)
        row = adds_of(table)["a"]
        assert (row["baseRowId"], row["tags"]) == (5, {"k": "v", "none": None})
        assert "clusteringProvider" not in row
        assert "extendedFileMetadata" not in table.schema.field("remove").type.names
        assert table["remove"].drop_null().to_pylist()[0]["size"] == 4
        assert table["txn"].drop_null().to_pylist()[0]["lastUpdated"] == 9
        assert table["domainMetadata"].drop_null().to_pylist() == [
            {"domain": "d", "configuration": "c", "removed": False}
        ]
        features = table["protocol"].drop_null().to_pylist()[0]["writerFeatures"]
        assert features == ["rowTracking", "domainMetadata"]


class TestStatistics:
    def test_are_the_logs_own_text_by_default(self) -> None:
        log = appendix_log()

        log.table.create_checkpoint(now=NOW)

        rows = adds_of(read_rows(log))
        assert rows["a"]["stats"] == json.dumps(STATS)
        assert rows["b"]["stats"] is None
        assert not {"stats_parsed", "partitionValues_parsed"} & set(rows["a"])

    def test_have_types_where_the_table_asks_for_it(self) -> None:
        log = appendix_log(**AS_STRUCT, **NOT_AS_JSON)

        log.table.create_checkpoint(now=NOW)

        rows = adds_of(read_rows(log))
        assert "stats" not in rows["a"]
        assert rows["a"]["stats_parsed"] == {
            "numRecords": 3,
            "minValues": {"asset": "a", "quantity": 1.5},
            "maxValues": {"asset": "z", "quantity": 9.0},
            "nullCount": {"asset": 0, "quantity": 1, "is_available": 2},
        }
        assert rows["b"]["stats_parsed"] is None
        parsed = {"date": date(2024, 2, 29), "region": None}
        assert rows["a"]["partitionValues_parsed"] == parsed
        assert rows["b"]["partitionValues_parsed"] == {"date": None, "region": "eu"}

    def test_are_left_out_where_the_table_wants_neither(self) -> None:
        log = appendix_log(**NOT_AS_JSON)

        log.table.create_checkpoint(now=NOW)

        row = adds_of(read_rows(log))["a"]
        assert not [name for name in row if name.startswith("stats")]

    def test_become_text_again_where_only_a_checkpoint_had_them(self) -> None:
        columns = [
            column("when", "timestamp"),
            column("day", "date"),
            column("price", "decimal(30,2)"),
            column("ratio", "double"),
            column("in", {"type": "struct", "fields": [column("n", "long")]}),
        ]
        low = {
            "when": "2024-01-01T10:00:00.123456Z",
            "day": "0001-01-01",
            "price": Decimal("1234567890123456789012345678.90"),
            "ratio": "NaN",
            "in": {"n": -(2**63)},
        }
        stats = json.dumps({"numRecords": 1, "minValues": low}, default=str)
        stats = stats.replace('"1234567890123456789012345678.90"', str(low["price"]))
        log = LogBuilder().start(
            add("a", stats=stats),
            schemaString=schema_text(*columns),
            configuration={**AS_STRUCT, **NOT_AS_JSON},
        )
        log.table.create_checkpoint(now=NOW)
        before = log.table.snapshot().statistics().to_pylist()
        log.commit(1, metadata(schemaString=schema_text(*columns)))

        log.table.create_checkpoint(now=NOW)

        row = adds_of(read_rows(log, checkpoint_name(1)))["a"]
        assert json.loads(row["stats"], parse_float=Decimal)["minValues"] == {
            **low,
            "when": "2024-01-01T10:00:00.123456Z",
        }
        assert repr(log.table.snapshot().statistics().to_pylist()) == repr(before)

    def test_of_a_table_without_data_columns_are_their_count(self) -> None:
        log = LogBuilder().start(
            add("p=1/a", partitionValues={"p": "1"}, stats='{"numRecords":2}'),
            schemaString=schema_text(column("p", "integer")),
            partitionColumns=["p"],
            configuration=AS_STRUCT,
        )

        log.table.create_checkpoint(now=NOW)

        row = adds_of(read_rows(log))["p=1/a"]
        assert row["stats_parsed"] == {"numRecords": 2}
        assert row["partitionValues_parsed"] == {"p": 1}

    @pytest.mark.parametrize("name", [*AS_STRUCT, *NOT_AS_JSON])
    def test_a_property_that_is_no_truth_value_is_named(self, name: str) -> None:
        log = LogBuilder().start(configuration={name: "perhaps"})

        with pytest.raises(PropertyError) as caught:
            log.table.create_checkpoint(now=NOW)

        assert name in caught.value.message


class TestTombstones:
    @pytest.mark.parametrize(
        ("deleted_ms", "is_kept"),
        [
            pytest.param(NOW_MS - WEEK_MS + 1, True, id="younger than a week"),
            pytest.param(NOW_MS - WEEK_MS, False, id="a week old"),
            pytest.param(None, False, id="without a time"),
        ],
    )
    @pytest.mark.parametrize("is_older", [True, False])
    def test_stay_until_they_expire(
        self, deleted_ms: int | None, *, is_kept: bool, is_older: bool
    ) -> None:
        log = LogBuilder().start()
        log.commit(1, remove("a", deletionTimestamp=deleted_ms))
        if is_older:
            early = datetime.fromtimestamp(0, UTC)
            log.table.create_checkpoint(now=early)
            log.commit(2)

        written = log.table.create_checkpoint(now=NOW)

        assert written.num_tombstones == int(is_kept)
        assert log.table.snapshot().tombstones.num_rows == int(is_kept)

    def test_stay_as_long_as_the_table_says(self) -> None:
        retention = {"delta.deletedFileRetentionDuration": "interval 2 days"}
        log = LogBuilder().start(configuration=retention)
        log.commit(1, remove("a", deletionTimestamp=NOW_MS - WEEK_MS + 1))

        assert log.table.create_checkpoint(now=NOW).num_tombstones == 0


class TestParts:
    def test_are_named_and_counted_as_asked_for(self) -> None:
        log = LogBuilder().start(*(add(f"f{n}") for n in range(20)), txn("x", 1))

        written = log.table.create_checkpoint(parts=3, now=NOW)

        assert written.names == checkpoint_part_names(0, 3)
        counts = [read_rows(log, name).num_rows for name in written.names]
        assert sum(counts) == written.num_actions == 23
        assert all(counts)
        assert hint_of(log)["parts"] == 3

    @pytest.mark.parametrize(("rows", "parts"), [(1000, 1), (20, 1), (7, 3), (1, 20)])
    def test_hold_about_as_many_actions_as_asked_for(
        self, rows: int, parts: int
    ) -> None:
        log = LogBuilder().start(*(add(f"f{n}") for n in range(20)))

        written = log.table.create_checkpoint(rows_per_part=rows, now=NOW)

        assert written.names == checkpoint_part_names(0, parts)

    def test_hold_the_same_files_whatever_they_are_made_from(self) -> None:
        from_commits, from_checkpoint = LogBuilder(), LogBuilder()
        for log in (from_commits, from_checkpoint):
            log.start(*(add(f"f{n}") for n in range(40)))
            log.commit(1, *(add(f"g{n}") for n in range(9)), remove("f3"))
        from_checkpoint.table.create_checkpoint(0, now=NOW)

        written = [
            log.table.create_checkpoint(parts=4, now=NOW)
            for log in (from_commits, from_checkpoint)
        ]

        for name in written[0].names:
            paths = [
                sorted(adds_of(read_rows(log, name)))
                for log in (from_commits, from_checkpoint)
            ]
            assert paths[0] == paths[1]

    def test_are_chosen_by_the_path_alone(self) -> None:
        rows = pa.array([{"path": "a"}, {"path": "b"}, {"path": "ü"}, {"path": "a"}])

        parts = split_rows(rows, 5)

        assert sum(len(part) for part in parts) == 4
        assert len([part for part in parts if {"path": "a"} in part.to_pylist()]) == 1

    @pytest.mark.parametrize(("parts", "rows"), [(0, None), (None, 0), (-1, 1)])
    def test_are_at_least_one(self, parts: int | None, rows: int | None) -> None:
        table = LogBuilder().start().table

        with pytest.raises(ValueError, match="from 1"):
            table.create_checkpoint(parts=parts, rows_per_part=rows, now=NOW)

    def test_are_not_more_than_can_be_open_at_once(self) -> None:
        with pytest.raises(ValueError, match="at most"):
            LogBuilder().start().table.create_checkpoint(parts=257, now=NOW)


def hint_of(log: LogBuilder) -> dict[str, Any]:
    hint: dict[str, Any] = json.loads(log.store.log_files[HINT])
    return hint


class TestLastCheckpoint:
    def test_tells_all_that_it_may(self) -> None:
        log = LogBuilder().start(add("a"), add("b"))

        written = log.table.create_checkpoint(now=NOW)

        assert hint_of(log) == {
            "version": 0,
            "size": 4,
            "sizeInBytes": written.size_bytes,
            "numOfAddFiles": 2,
        }
        size_bytes = len(log.store.log_files[checkpoint_name(0)])
        assert written.size_bytes == size_bytes

    def test_never_moves_backwards(self) -> None:
        log = LogBuilder().start().commit(1, add("a")).commit(2, add("b"))
        log.table.create_checkpoint(now=NOW)
        before = hint_of(log)

        written = log.table.create_checkpoint(1, now=NOW)

        assert not written.is_last
        assert hint_of(log) == before
        assert log.table.snapshot(1).state.checkpoint is not None

    def test_of_someone_faster_stays(self) -> None:
        log = LogBuilder().start().commit(1, add("a"))

        def commit_more(_done: int, _total: int) -> None:
            log.commit(2, add("b"))
            log.hint(b'{"version":2,"size":9}')

        written = log.table.create_checkpoint(on_progress=commit_more, now=NOW)

        assert (written.version, written.is_last) == (1, False)
        assert hint_of(log)["version"] == 2
        assert log.table.snapshot().num_files == 2

    @pytest.mark.parametrize("torn", [b"", b"{", b"[]", b'{"version":"9"}', b"\xff"])
    def test_that_is_broken_is_replaced(self, torn: bytes) -> None:
        log = LogBuilder().start().hint(torn)

        log.table.create_checkpoint(now=NOW)

        assert hint_of(log)["version"] == 0


class NotingStore(MemoryTableStore):
    """Notes what becomes visible, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.put_names: list[str] = []

    def put(self, name: str, data: bytes) -> None:
        self.put_names.append(name)
        super().put(name, data)

    def update(self, name: str, change: Callable[[bytes | None], bytes | None]) -> None:
        self.put_names.append(name)
        super().update(name, change)


class TestOrder:
    def test_parts_come_before_the_hint_and_after_the_commit(self) -> None:
        store = NotingStore()
        log = LogBuilder(store).start(add("a"))

        written = log.table.create_checkpoint(parts=3, now=NOW)

        assert store.put_names == [commit_name(0), *written.names, HINT]

    @pytest.mark.parametrize("version", [1, 7])
    def test_a_version_that_does_not_exist_gets_none(self, version: int) -> None:
        log = LogBuilder().start()

        with pytest.raises(VersionNotFoundError):
            log.table.create_checkpoint(version, now=NOW)

        assert list(log.store.log_files) == [commit_name(0)]

    def test_a_version_behind_a_gap_gets_none(self) -> None:
        log = LogBuilder().start().commit(2, add("a"))

        with pytest.raises(LogGapError):
            log.table.create_checkpoint(2, now=NOW)

    def test_a_torn_commit_is_named_and_leaves_nothing(self) -> None:
        log = LogBuilder().start(add("a")).raw_commit(1, b'{"add":{"pa')
        names = set(log.store.log_files)

        with pytest.raises(LogCorruptError) as caught:
            log.table.create_checkpoint(now=NOW)

        assert commit_name(1) in caught.value.path
        assert set(log.store.log_files) == names

    @pytest.mark.parametrize("pieces", [0, 1, 2])
    def test_work_that_is_cancelled_leaves_nothing(self, pieces: int) -> None:
        log = LogBuilder().start(add("a")).commit(1, add("b"))
        names = set(log.store.log_files)
        answers = iter([*[False] * pieces, True])

        with pytest.raises(CheckpointCancelledError):
            log.table.create_checkpoint(is_cancelled=lambda: next(answers), now=NOW)

        assert set(log.store.log_files) == names

    def test_work_whose_progress_raises_leaves_nothing(self) -> None:
        log = LogBuilder().start(add("a")).commit(1, add("b"))
        names = set(log.store.log_files)

        def fail(_done: int, _total: int) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            log.table.create_checkpoint(on_progress=fail, now=NOW)

        assert set(log.store.log_files) == names

    def test_progress_counts_files_up_to_about_the_total(self) -> None:
        log = LogBuilder().start(*(add(f"f{n}") for n in range(9)))
        log.table.create_checkpoint(now=NOW)
        log.commit(1, remove("f1"), add("g"))
        told: list[tuple[int, int]] = []

        log.table.create_checkpoint(
            on_progress=lambda *pair: told.append(pair), now=NOW
        )

        assert told == sorted(told)
        assert {total for _, total in told} == {11 + 2}
        assert told[-1][0] == 8 + 2

    def test_a_version_of_which_only_a_checkpoint_is_left_can_have_another(
        self,
    ) -> None:
        log = LogBuilder().start(add("a")).commit(1, add("b"))
        log.table.create_checkpoint(now=NOW)
        log.delete(commit_name(0)).delete(commit_name(1))

        written = log.table.create_checkpoint(parts=2, now=NOW)

        assert written.num_files == 2
        log.delete(checkpoint_name(1))
        assert log.table.snapshot().num_files == 2


class TestSources:
    def test_a_broken_checkpoint_is_passed_over(self) -> None:
        log = LogBuilder().start(add("a")).commit(1, add("b")).commit(2, add("c"))
        log.store.put(checkpoint_name(1), b"PAR1 torn PAR1")

        written = log.table.create_checkpoint(now=NOW)

        assert written.num_files == 3

    def test_a_checkpoint_that_breaks_while_it_is_read_is_passed_over(self) -> None:
        log = LogBuilder().start(*(add(f"f{n}") for n in range(9)))
        log.commit(1, add("b"))
        log.table.create_checkpoint(0, now=NOW)
        data = bytearray(log.store.log_files[checkpoint_name(0)])
        paths = pq.ParquetFile(io.BytesIO(data)).metadata
        leaf = next(
            paths.row_group(1).column(index)
            for index in range(paths.num_columns)
            if paths.row_group(1).column(index).path_in_schema == "add.path"
        )
        start = leaf.data_page_offset
        data[start : start + leaf.total_compressed_size] = bytes(
            leaf.total_compressed_size
        )
        log.store.put(checkpoint_name(0), bytes(data))

        written = log.table.create_checkpoint(1, now=NOW)

        assert written.num_files == 10

    def test_without_a_way_around_a_broken_checkpoint_it_is_named(self) -> None:
        log = LogBuilder().start(add("a")).commit(1, add("b"))
        log.store.put(checkpoint_name(0), b"torn")
        log.delete(commit_name(0))

        with pytest.raises(LogCorruptError) as caught:
            log.table.create_checkpoint(now=NOW)

        assert checkpoint_name(0) in caught.value.path

    def test_the_partition_values_of_a_typed_checkpoint_become_text(self) -> None:
        values = pa.struct([("p", pa.int32())])
        fields = [("path", pa.string()), ("size", pa.int64())]
        adds = pa.array(
            [{"path": "a", "size": 1, "partitionValues_parsed": {"p": 7}}],
            pa.struct([*fields, ("partitionValues_parsed", values)]),
        )
        head = pq.read_table(
            io.BytesIO(
                checkpoint_bytes(
                    [protocol(), metadata(partitionColumns=["p"])], row_group_rows=9
                )
            )
        )
        head = head.drop_columns(["add", "remove", "txn"])
        columns = [head[name].combine_chunks() for name in head.column_names]
        padded = [pa.concat_arrays([c, pa.nulls(1, c.type)]) for c in columns]
        adds = pa.concat_arrays([pa.nulls(2, adds.type), adds])
        sink = io.BytesIO()
        table = pa.Table.from_arrays([*padded, adds], [*head.column_names, "add"])
        pq.write_table(table, sink)
        log = LogBuilder().commit(1)
        log.store.put(checkpoint_name(0), sink.getvalue())

        log.table.create_checkpoint(now=NOW)

        row = adds_of(read_rows(log, checkpoint_name(1)))["a"]
        assert row["partitionValues"] == {"p": "7"}


REFUSALS: list[Any] = [
    pytest.param(protocol(1, 8), UnsupportedWriterError, "8", id="writer version 8"),
    pytest.param(
        protocol(4, 7, writerFeatures=[]), DeltaError, "4", id="reader version 4"
    ),
    pytest.param(
        protocol(1, 7), UnsupportedWriterFeatureError, "without a list", id="no list"
    ),
    *(
        pytest.param(
            protocol(1, 7, writerFeatures=["appendOnly", name]),
            UnsupportedWriterFeatureError,
            name,
            id=name,
        )
        for name in ("tableTeleport", "checkpointProtection", "icebergCompatV2")
    ),
    *(
        pytest.param(
            protocol(3, 7, readerFeatures=[name], writerFeatures=[name]),
            UnsupportedFeatureError,
            name,
            id=name,
        )
        for name in ("v2Checkpoint", "deletionVectors", "catalogManaged")
    ),
]


class TestRefusals:
    @pytest.mark.parametrize(("action", "error", "named"), REFUSALS)
    @pytest.mark.parametrize("is_in_checkpoint", [True, False])
    def test_name_what_is_not_kept(
        self,
        action: dict[str, Any],
        error: type[DeltaError],
        named: str,
        *,
        is_in_checkpoint: bool,
    ) -> None:
        log = LogBuilder().commit(0, action, metadata())
        if is_in_checkpoint and "writerFeatures" not in action["protocol"]:
            log.commit(1).checkpoint(0, action, metadata())
        names = set(log.store.log_files)

        with pytest.raises(error) as caught:
            log.table.create_checkpoint(now=NOW)

        assert named in caught.value.message
        assert set(log.store.log_files) == names

    def test_name_the_policy_of_the_later_kind(self) -> None:
        log = LogBuilder().start(configuration={"delta.checkpointPolicy": "v2"})

        with pytest.raises(UnsupportedWriterFeatureError, match="v2Checkpoint"):
            log.table.create_checkpoint(now=NOW)

    @pytest.mark.parametrize(
        "action",
        [
            add("a", deletionVector=deletion_vector("x")),
            remove("a", deletionTimestamp=NOW_MS, deletionVector=deletion_vector("x")),
        ],
        ids=["of a file", "of a tombstone"],
    )
    def test_name_deletion_vectors_that_no_feature_announces(
        self, action: dict[str, Any]
    ) -> None:
        log = LogBuilder().start(action)

        with pytest.raises(UnsupportedFeatureError, match="deletionVectors"):
            log.table.create_checkpoint(now=NOW)

    @pytest.mark.parametrize(
        "features",
        [
            ["appendOnly", "invariants", "checkConstraints"],
            ["changeDataFeed", "generatedColumns", "identityColumns"],
            ["domainMetadata", "clustering", "rowTracking", "inCommitTimestamp"],
        ],
    )
    def test_leave_alone_what_a_checkpoint_keeps(self, features: list[str]) -> None:
        log = LogBuilder().commit(
            0, protocol(1, 7, writerFeatures=features), metadata()
        )

        log.table.create_checkpoint(now=NOW)

        assert log.delete(commit_name(0)).table.snapshot().protocol.writer_features == (
            features
        )

    @pytest.mark.parametrize("writer", [2, 3, 4, 5, 6])
    def test_leave_alone_writer_versions_of_known_features(self, writer: int) -> None:
        log = LogBuilder().commit(0, protocol(1, writer), metadata())

        assert log.table.create_checkpoint(now=NOW).version == 0


class TestTwoBuilders:
    @pytest.mark.parametrize("parts", [(None, None), (2, 2), (None, 3), (3, 2)])
    def test_of_one_version_do_no_harm(self, parts: Sequence[int | None]) -> None:
        log = LogBuilder().start(*(add(f"f{n}") for n in range(9)))
        table = DeltaTable.from_store(log.store)

        def build_other(_done: int, _total: int) -> None:
            table.create_checkpoint(parts=parts[1], now=NOW)

        log.table.create_checkpoint(parts=parts[0], on_progress=build_other, now=NOW)

        log.delete(commit_name(0))
        assert log.table.snapshot().num_files == 9
        assert hint_of(log).get("parts") == parts[0]


def test_a_file_whose_action_is_gone_between_the_two_passes_is_noticed() -> None:
    log = LogBuilder().start(add("a"))

    class Swapped(MemoryTableStore):
        reads = 0

        def read_many(self, names: Sequence[str]) -> list[bytes]:
            self.reads += 1
            if self.reads > 1:
                return [commit_bytes(*([txn("x", 1)] * 3)) for _ in names]
            return super().read_many(names)

    store = Swapped()
    store.log_files = log.store.log_files

    with pytest.raises(LogCorruptError, match="changed"):
        DeltaTable.from_store(store).create_checkpoint(now=NOW)


def test_no_more_parts_than_a_log_should_hold_are_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(plan, "MAX_PARTS", 2)
    log = LogBuilder().start(*(add(f"f{n}") for n in range(9)))

    assert len(log.table.create_checkpoint(rows_per_part=1, now=NOW).names) == 2
