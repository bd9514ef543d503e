"""What a checkpoint is made from, and logs that none is made of."""

import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaweb.delta.errors import (
    DeltaError,
    LogCorruptError,
    UnsupportedFeatureError,
    UnsupportedWriterError,
    UnsupportedWriterFeatureError,
)
from deltaweb.delta.log.paths import checkpoint_name, commit_name
from tests.support import cases
from tests.support.logs.appendix_log import NOW, NOW_MS, adds_of, read_rows
from tests.support.logs.delta_logs import (
    Action,
    LogBuilder,
    add,
    checkpoint_bytes,
    deletion_vector,
    metadata,
    protocol,
    remove,
)


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
        for name in ("tableTeleport", "checkpointProtection", "icebergCompatV9")
    ),
    *(
        pytest.param(
            protocol(3, 7, readerFeatures=[name], writerFeatures=[name]),
            UnsupportedFeatureError,
            name,
            id=name,
        )
        for name in ("catalogManaged",)
    ),
]


def keys_of(files: pa.Table) -> set[str]:
    pairs = zip(files["path"].to_pylist(), files["dv_id"].to_pylist(), strict=True)
    return {f"{path}|{vector}" for path, vector in pairs}


class TestRefusals:
    @pytest.mark.parametrize(("action", "error", "named"), REFUSALS)
    @pytest.mark.parametrize("is_in_checkpoint", [True, False])
    def test_name_what_is_not_kept(self, action, error, named, *, is_in_checkpoint):
        log = LogBuilder().commit(0, action, metadata())
        if is_in_checkpoint and "writerFeatures" not in action["protocol"]:
            log.commit(1).checkpoint(0, action, metadata())
        names = set(log.store.log_files)

        with pytest.raises(error) as caught:
            log.table.create_checkpoint(now=NOW)

        assert named in caught.value.message
        assert set(log.store.log_files) == names

    def test_name_the_policy_of_a_kind_that_is_not_known(self) -> None:
        log = LogBuilder().start(configuration={"delta.checkpointPolicy": "v3"})

        with pytest.raises(UnsupportedWriterFeatureError, match="v2Checkpoint"):
            log.table.create_checkpoint(now=NOW)

    def test_name_deletion_vectors_that_no_feature_announces(self) -> None:
        log = LogBuilder().start(add("a", deletionVector=deletion_vector("x")))

        with pytest.raises(UnsupportedFeatureError, match="deletionVectors"):
            log.table.create_checkpoint(now=NOW)

    def test_keep_vectors_of_tombstones_after_the_feature_was_dropped(self) -> None:
        gone = remove(
            "a", deletionTimestamp=NOW_MS, deletionVector=deletion_vector("x")
        )
        log = LogBuilder().start(gone, add("a"))

        log.table.create_checkpoint(now=NOW)

        log.delete(commit_name(0))
        after = log.table.snapshot_metadata()
        assert keys_of(after.files) == {"a|None"}
        assert keys_of(after.tombstones) == {"a|ux"}

    def test_name_a_protection_up_to_its_version(self) -> None:
        bound = {"delta.requireCheckpointProtectionBeforeVersion": "1"}
        listed = protocol(1, 7, writerFeatures=["checkpointProtection"])
        log = LogBuilder().commit(0, listed, metadata(configuration=bound)).commit(1)

        with pytest.raises(UnsupportedWriterFeatureError, match="checkpointProt"):
            log.table.create_checkpoint(0, now=NOW)
        assert log.table.create_checkpoint(1, now=NOW).version == 1

    @pytest.mark.parametrize("parts", [None, 2])
    def test_leave_alone_deletion_vectors_that_a_feature_announces(self, parts):
        listed = {"readerFeatures": ["deletionVectors"]}
        vectors = [*map(deletion_vector, "xxy", (1, 1, None))]
        head = protocol(3, 7, **listed, writerFeatures=["deletionVectors"])
        stays = add("b", deletionVector=vectors[0])
        log = LogBuilder().commit(0, head, metadata(), add("a"), stays)
        first = log.table.create_checkpoint(parts=parts, now=NOW)
        log.commit(
            1,
            remove("a", deletionTimestamp=NOW_MS),
            add("a", deletionVector=vectors[1]),
        )
        log.commit(
            2,
            remove("a", deletionTimestamp=NOW_MS, deletionVector=vectors[1]),
            add("a", deletionVector=vectors[2]),
        )
        before = log.table.snapshot_metadata()

        written = log.table.create_checkpoint(parts=parts, now=NOW)

        for name in (*first.names, *map(commit_name, (0, 1))):
            log.delete(name)
        after = log.table.snapshot_metadata()
        assert keys_of(after.files) == keys_of(before.files) == {"a|uy", "b|ux@1"}
        assert keys_of(after.tombstones) == {"a|None", "a|ux@1"}
        schema = pq.read_schema(io.BytesIO(log.store.log_files[written.names[0]]))
        vector = schema.field("add").type.field("deletionVector").type
        assert vector.field("offset").type == pa.int32()

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


@cases(
    "action",
    {
        "half a character in a tag": add("a", tags={"k": "\ud800"}),
        "and in the metaData": metadata(description="\ud800"),
        "a time beyond a long": metadata(createdTime=2**70),
        "a version beyond an integer": protocol(1, -(2**40)),
    },
)
def test_what_no_checkpoint_can_hold_is_refused_and_leaves_none(action: Action):
    log = LogBuilder().start().commit(1, action)
    before = set(log.store.log_files)

    with pytest.raises(LogCorruptError, match="_delta_log"):
        log.table.create_checkpoint(now=NOW)

    assert set(log.store.log_files) == before
