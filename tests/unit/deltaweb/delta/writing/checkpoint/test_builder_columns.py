"""What is in the columns of a checkpoint."""

import io
import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.errors import PropertyError
from deltaweb.delta.log.paths import checkpoint_name
from deltaweb.table import DeltaTable
from tests.support import cases
from tests.support.logs.appendix_log import (
    AS_STRUCT,
    NOT_AS_JSON,
    NOW,
    NOW_MS,
    STATS,
    WEEK_MS,
    adds_of,
    appendix_log,
    column,
    read_rows,
    schema_text,
)
from tests.support.logs.delta_logs import LogBuilder, add, metadata, protocol, remove


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
            add("a", baseRowId=5, tags={"k": "v", "none": None, "odd": True}),
            remove("b", deletionTimestamp=NOW_MS, size=4),
            {"txn": {"appId": "x", "version": 1, "lastUpdated": 9}},
            {"domainMetadata": {"domain": "d", "configuration": "c", "removed": False}},
            {"domainMetadata": {"domain": "e", "configuration": "", "removed": True}},
        )

        log.table.create_checkpoint(now=NOW)

        table = read_rows(log)
        row = adds_of(table)["a"]
        assert (row["baseRowId"], row["tags"]) == (
            5,
            {"k": "v", "none": None, "odd": "true"},
        )
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

    def test_are_text_where_the_log_has_an_object(self) -> None:
        log = LogBuilder().start(add("a", stats=STATS), add("b", stats="{}"))

        log.table.create_checkpoint(now=NOW)

        rows = adds_of(read_rows(log))
        assert json.loads(rows["a"]["stats"]) == STATS
        assert rows["b"]["stats"] == "{}"

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
    @cases(
        "deleted_ms, is_kept",
        {
            "a week old": (NOW_MS - WEEK_MS, True),
            "older than a week": (NOW_MS - WEEK_MS - 1, False),
            "without a time": (None, False),
        },
    )
    @pytest.mark.parametrize("is_older", [True, False])
    def test_stay_until_they_expire(self, deleted_ms, *, is_kept, is_older):
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

    @pytest.mark.parametrize("has_older", [True, False])
    def test_keep_the_partition_values_of_before_a_new_partitioning(self, *, has_older):
        values = {"p": "x"}
        log = LogBuilder().start(
            add("a", partitionValues=values), partitionColumns=["p"]
        )
        if has_older:
            log.table.create_checkpoint(now=NOW)
        gone = remove("a", partitionValues=values, deletionTimestamp=NOW_MS)
        newer = add("b", partitionValues={"id": None})
        log.commit(1, metadata(partitionColumns=["id"]), gone, newer)

        log.table.create_checkpoint(now=NOW)

        rows = read_rows(log, checkpoint_name(1)).to_pylist()
        (removed,) = [row["remove"] for row in rows if row["remove"]]
        (added,) = [row["add"] for row in rows if row["add"]]
        assert removed["partitionValues"] == [("p", "x")]
        assert added["partitionValues"] == [("id", None)]


class TestAWideTable:
    def test_takes_the_fields_of_a_struct_apart_at_once(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Arrow looks at all fields to take one: one by one, time grows as a square."""
        names = [f"c{number}" for number in range(200)]
        schema = pa.schema([(name, pa.int64()) for name in names])
        typed = {"delta.checkpoint.writeStatsAsStruct": "true"}
        table = DeltaTable.create(str(tmp_path / "wide"), schema, properties=typed)
        rows = pa.table({name: [1] for name in names}, schema=schema)
        table.append(rows, checkpoint="never")
        take_one, num_taken = pc.struct_field, 0

        def counted(*taken: object) -> object:
            nonlocal num_taken
            num_taken += 1
            return take_one(*taken)

        monkeypatch.setattr(pc, "struct_field", counted)
        table.create_checkpoint()
        table.append(rows, checkpoint="never")
        table.create_checkpoint()

        assert 0 < num_taken < len(names)
        least = table.snapshot().statistics()["min"].to_pylist()
        # An append gives statistics to the first 32 columns.
        known = [dict.fromkeys(names[:32], 1) | dict.fromkeys(names[32:])] * 2
        assert least == known
